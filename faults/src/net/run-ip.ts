import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

const NEEDS =
  'hosts of their own need Linux, root, and `ip` of iproute2: each server and role gets a network namespace, so run it as root (with sudo, or a container with CAP_NET_ADMIN and CAP_SYS_ADMIN)';

/** Runs lines of `ip` in a namespace, or in ours without one, while this process goes on. */
export async function runIp(namespace: string | undefined, lines: readonly string[]): Promise<void> {
  const child = spawn('ip', argsIn(namespace), { stdio: ['pipe', 'ignore', 'pipe'] });
  const ended = once(child, 'close').catch((error: unknown) => {
    throw new Error(NEEDS, { cause: error });
  });
  // A program that is missing or ends early does not read its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(lines.join('\n'));
  const said = await text(child.stderr);
  const [code] = await ended;
  if (code !== 0) throw explain(said);
}

/** The same when this process is about to end; it may fail. */
export function runIpAtEnd(lines: readonly string[]): void {
  spawnSync('ip', argsIn(undefined), { input: lines.join('\n'), stdio: ['pipe', 'ignore', 'ignore'] });
}

/** The answer of `ip` to a question. */
export function askIp(...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync('ip', args, { encoding: 'utf8' });
  if (error !== undefined) throw new Error(NEEDS, { cause: error });
  if (status !== 0) throw explain(stderr);
  return stdout;
}

/** Why this process cannot make hosts of their own, if it cannot: root in a container may still lack the rights. */
export function whyNoHosts(): string | undefined {
  const name = `millrace-${process.pid}-try`;
  if (spawnSync('ip', ['netns', 'add', name]).status !== 0) return NEEDS;
  spawnSync('ip', ['netns', 'del', name]);
  return undefined;
}

/** `-force`: the other lines of a clean-up are run although one of them fails; the exit code still tells. */
function argsIn(namespace: string | undefined): string[] {
  return [...(namespace === undefined ? [] : ['-n', namespace]), '-force', '-batch', '-'];
}

function explain(said: string): Error {
  return new Error(/not permitted|denied/i.test(said) ? `${NEEDS}: ${said.trim()}` : `ip failed: ${said.trim()}`);
}
