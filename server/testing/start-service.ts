/** A program with a supervisor and children, as a service of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { LogLine } from './log-lines.ts';
import { until } from './until.ts';

export type Service = ReturnType<typeof startService>;

/** `signal` reaches the supervisor alone, `signalAll` each process, as systemd sends it. */
export function startService(program: readonly string[], settings: Record<string, string>, metricsUrl: string) {
  // Most of the processes start later than the first one, and need not compile the same modules.
  const cache = { NODE_COMPILE_CACHE: join(tmpdir(), 'millrace-compile-cache') };
  // oxlint-disable-next-line node/no-process-env -- the rest that a program needs
  const env = { ...cache, ...process.env, ...settings };
  const service = spawn(process.execPath, program, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: LogLine[] = [];
  let said = '';
  createInterface({ input: service.stdout }).on('line', (line) => lines.push(JSON.parse(line) as LogLine));
  service.stderr.on('data', (chunk) => (said += String(chunk)));
  // Its children have the same standard output: it is closed when all of them have ended.
  const closed = once(service, 'close') as Promise<[number | null]>;
  const signalAll = (signal: NodeJS.Signals) => process.kill(-(service.pid ?? 0), signal);
  const isReady = async () => {
    const answer = await fetch(`${metricsUrl}/readyz`).catch(() => undefined);
    const { missing = [] } = ((await answer?.json()) ?? {}) as { missing?: string[] };
    return answer?.status === 200 && missing.length === 0;
  };
  const told = () => `${said}${lines.map((line) => JSON.stringify(line)).join('\n')}`;
  const page = async () => (await fetch(`${metricsUrl}/metrics`)).text();
  return {
    lines,
    of: (event: string) => lines.filter(({ msg }) => msg === event),
    /** The ids of the processes that children were started as, in the order of their starts. */
    children: () => lines.filter(({ msg }) => msg === 'child.started').map(({ pid }) => Number(pid)),
    told,
    /** Resolves when all processes are ready. */
    ready: () => until(isReady, 60_000, told),
    page,
    async valueOf(series: string): Promise<number> {
      const line = (await page()).split('\n').find((each) => each.startsWith(`${series} `));
      return Number(line?.slice(series.length + 1));
    },
    signal: (signal: NodeJS.Signals) => void service.kill(signal),
    signalAll,
    /** Resolves when the supervisor and all children have ended. */
    exitCode: async () => (await closed)[0],
    async [Symbol.asyncDispose]() {
      if (service.exitCode === null && service.signalCode === null) signalAll('SIGKILL');
      await closed;
    },
  };
}
