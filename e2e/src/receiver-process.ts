import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';

export type Receiver = AsyncDisposable & {
  url: string;
  /** The work that it did after answering, a line each: the delivery's id and the event's type. */
  worked: string[];
  /** Resolves when it has worked on the delivery with this id; fails when that takes too long. */
  untilWorkedOn(id: string): Promise<void>;
};

const UNTIL_MS = 60_000;

/** A receiver of examples/receiving as its own process, on a port that it chose. */
export async function startReceiver(command: string[], secret: string): Promise<Receiver> {
  const [program = '', ...args] = command;
  // Express writes every refusal to the error output unless it is told that this is a test.
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: '0', NODE_ENV: 'test' };
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
  const lines = createInterface({ input: child.stdout });
  const [first] = (await once(lines, 'line', { signal: AbortSignal.timeout(UNTIL_MS) })) as [string];
  const worked: string[] = [];
  const progress = new EventEmitter();
  lines.on('line', (line) => {
    worked.push(line);
    progress.emit('line');
  });
  return {
    url: `http://127.0.0.1:${/^listening on (\d+)$/.exec(first)?.[1]}`,
    worked,
    async untilWorkedOn(id) {
      const signal = AbortSignal.timeout(UNTIL_MS);
      while (!worked.some((line) => line.startsWith(`${id} `))) await once(progress, 'line', { signal });
    },
    [Symbol.asyncDispose]: () => stop(child),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  const hasEnded = once(child, 'close');
  child.kill('SIGKILL');
  await hasEnded;
}
