import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type Finding, problem } from './finding.ts';

/** Names in URLs that DNS does not know: the usual reason for a connection that cannot be made. */
export async function findUnknownHosts(setting: string, urls: readonly string[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const url of urls) {
    const host =
      URL.parse(url.includes('://') ? url.trim() : `nats://${url.trim()}`)?.hostname.replace(/^\[|\]$/g, '') ?? '';
    if (host === '' || isIP(host) !== 0) continue;
    const code = await lookup(host).then(
      () => undefined,
      (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown'),
    );
    if (code === undefined) continue;
    findings.push(
      problem('host_unknown', {
        what: `The name ${host} in ${setting} cannot be looked up: ${code}.`,
        why: 'No connection can be made to a server without an address.',
        todo: `Correct the name in ${setting}, or its entry in DNS or /etc/hosts; in a container, use a name of its network.`,
      }),
    );
  }
  return findings;
}
