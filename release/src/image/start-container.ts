/** The image as a container with the strictest settings that a cluster may demand; docs/run/image.md promises that it runs so. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Podman } from './open-podman.ts';

/** No writable root, no capability, no way to gain one. The user is the image's own. */
export const HARDENED = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges'];

/** The engines of the tests listen on this machine's loopback. podman's default limits can be higher than this machine allows. */
const ON_THIS_MACHINE = [
  '--network=host',
  '--no-healthcheck',
  '--ulimit=nofile=20000:20000',
  '--ulimit=nproc=1024:1024',
];

const READY_WITHIN_MS = 120_000;

/** The command that runs the image in the foreground and hands the MILLRACE_… variables of its own environment on. */
export function runCommand(podman: Podman, image: string, ...args: string[]): [string, ...string[]] {
  const [program, ...rest] = podman.command;
  return [program, ...rest, 'run', '--rm', ...HARDENED, ...ON_THIS_MACHINE, '--env=MILLRACE_*', ...args, image];
}

export type Container = AsyncDisposable & {
  name: string;
  /** Of its first process, as this machine sees it. */
  pid: number;
  /** From the moment its first process was started until `/readyz` answered 200. */
  readyAfterMs: number;
  /** How much of that the process could have run and other processes had the CPU. */
  heldUpMs: number;
  /** Resolves with the exit code. */
  signal(name: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
};

export type ContainerStart = { podman: Podman; image: string; settings: Record<string, string>; readyUrl: string };

type State = { Pid: number; StartedAt: string };

let containers = 0;

export async function startContainer({ podman, image, settings, readyUrl }: ContainerStart): Promise<Container> {
  const name = `millrace-${process.pid}-${(containers += 1)}`;
  const [program, ...args] = runCommand(podman, image, `--name=${name}`);
  const env = { ...process.env, ...settings };
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
  const ended = once(child, 'close').then(() => child.exitCode);
  const readyAt = await untilReady(readyUrl, child, () => said);
  const { Pid: pid, StartedAt: startedAt } = JSON.parse(
    podman.run('inspect', '--format={{json .State}}', name),
  ) as State;
  const signal = (signalName: string) => {
    podman.run('kill', `--signal=${signalName}`, name);
    return ended;
  };
  return {
    name,
    pid,
    readyAfterMs: readyAt - Date.parse(startedAt),
    heldUpMs: waitedForCpuMs(pid),
    signal,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) await signal('SIGKILL');
    },
  };
}

/** The second number of schedstat, in nanoseconds; a kernel without it has no such file. */
function waitedForCpuMs(pid: number): number {
  const file = `/proc/${pid}/schedstat`;
  return existsSync(file) ? Math.round(Number(readFileSync(file, 'utf8').split(' ')[1]) / 1e6) : 0;
}

async function untilReady(url: string, child: ChildProcess, said: () => string): Promise<number> {
  const giveUpAt = Date.now() + READY_WITHIN_MS;
  while (child.exitCode === null && Date.now() < giveUpAt) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.status === 200) return Date.now();
    await sleep(20);
  }
  throw new Error(`the container did not become ready; it said:\n${said()}`);
}
