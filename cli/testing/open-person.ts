/** Runs `millrace` as a person does: in a shell, with a home of its own and nothing of this process's environment. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { MILLRACE } from './run-millrace.ts';

/** Each `answer` is typed as soon as the command has printed its `prompt`, in this order. */
type Typed = { prompt: string; answer: string };
export type ShellOptions = { env?: Record<string, string>; input?: string; typed?: Typed | readonly Typed[] };

export type Ran = { code: number; stdout: string; stderr: string };

export type Person = AsyncDisposable & {
  home: string;
  /** A line for bash, in which `millrace` is this program. */
  shell(line: string, more?: ShellOptions): Promise<Ran>;
};

export async function openPerson(env: Record<string, string> = {}): Promise<Person> {
  const home = await mkdtemp(join(tmpdir(), 'millrace-cli-'));
  await writeFile(join(home, 'millrace'), `#!/bin/sh\nexec "${process.execPath}" "${MILLRACE}" "$@"\n`, {
    mode: 0o755,
  });
  return {
    home,
    async shell(line, more = {}) {
      const child = spawn('bash', ['-c', line], {
        cwd: home,
        env: {
          PATH: `${home}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
          HOME: home,
          NODE_COMPILE_CACHE: join(tmpdir(), 'millrace-cli-compile-cache'),
          NODE_NO_WARNINGS: '1',
          ...env,
          ...more.env,
        },
      });
      child.stdin.on('error', () => undefined);
      if (more.typed === undefined) child.stdin.end(more.input ?? '');
      else answerPrompts(child, [more.typed].flat());
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
      return { code: child.exitCode ?? 1, stdout, stderr };
    },
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  };
}

function answerPrompts(child: ChildProcessWithoutNullStreams, typed: readonly Typed[]): void {
  const left = [...typed];
  let printed = '';
  child.stdout.on('data', (piece: Buffer) => {
    printed += piece.toString();
    const [next] = left;
    if (next === undefined || !printed.includes(next.prompt)) return;
    left.shift();
    printed = '';
    child.stdin.write(next.answer);
  });
}
