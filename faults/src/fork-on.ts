import { type ChildProcess, fork } from 'node:child_process';
import { commandOn, type NetHost } from '@millrace/engines';

/** Forks a program of ours on that host; on the usual one without it. */
export function forkOn(
  host: NetHost | undefined,
  path: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): ChildProcess {
  if (host === undefined) return fork(path, args, { env });
  const { program, args: execArgv } = commandOn(host, process.execPath, process.execArgv);
  return fork(path, args, { env, execPath: program, execArgv });
}
