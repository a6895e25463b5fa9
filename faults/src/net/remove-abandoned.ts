import { askIp, runIp } from './run-ip.ts';

/** Removes the namespaces of runs that were killed, with the processes that are still in them. */
export async function removeAbandoned(prefix: string): Promise<void> {
  const names = askIp('netns', 'list').split('\n');
  const abandoned = namesOfDead(prefix, names, isAlive);
  for (const name of abandoned) {
    for (const pid of askIp('netns', 'pids', name).trim().split('\n')) if (pid !== '') kill(Number(pid));
  }
  if (abandoned.length > 0) {
    await runIp(
      undefined,
      abandoned.map((name) => `netns del ${name}`),
    );
  }
}

/** `ip` lists a namespace by its name, and perhaps its number behind it. The name has the id of the process that made it. */
export function namesOfDead(prefix: string, listed: readonly string[], isAlive: (pid: number) => boolean): string[] {
  return listed.flatMap((line) => {
    const [name = ''] = line.split(' ');
    const found = new RegExp(`^${prefix}-(\\d+)-`).exec(name);
    return found === null || isAlive(Number(found[1])) ? [] : [name];
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user is alive as well.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
