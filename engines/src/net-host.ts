/** A host of its own on this machine: a network namespace, and the address by which other hosts reach it. */
export type NetHost = { namespace: string; address: string };

/** The usual host, whose programs meet on loopback. */
export const LOOPBACK = '127.0.0.1';

export type Command = { program: string; args: string[] };

/** The command that runs a program on that host. `ip netns exec` becomes the program, so signals to its process reach the program. */
export function commandOn(host: NetHost | undefined, program: string, args: readonly string[]): Command {
  if (host === undefined) return { program, args: [...args] };
  return { program: 'ip', args: ['netns', 'exec', host.namespace, program, ...args] };
}
