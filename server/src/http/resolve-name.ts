import { Resolver } from 'node:dns/promises';

export type Resolved =
  | { ok: true; addresses: string[] }
  | { ok: false; errorClass: 'dns_not_found' | 'dns_failed' | 'dns_timeout'; detail: string };

/** All addresses of a name, or why there are none. */
export type Resolve = (name: string) => Promise<Resolved>;

/**
 * Asks the DNS servers themselves: `/etc/hosts` has no say in what is public, and names that never answer do not fill the
 * four threads that getaddrinfo shares with the file system.
 */
export function openResolver(servers?: string[]): Resolve {
  const resolver = new Resolver({ timeout: 1_500, tries: 1 });
  if (servers !== undefined) resolver.setServers(servers);
  return async (name) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = interleave(valueOf(v4), valueOf(v6));
    return addresses.length > 0 ? { ok: true, addresses } : explain([codeOf(v4), codeOf(v6)]);
  };
}

/** Pure: which of two failures is worth telling. */
export function explain(codes: string[]): Resolved {
  if (codes.some((code) => code === 'ETIMEOUT')) return { ok: false, errorClass: 'dns_timeout', detail: 'ETIMEOUT' };
  const failure = codes.find((code) => code !== 'ENOTFOUND' && code !== 'ENODATA');
  if (failure !== undefined) return { ok: false, errorClass: 'dns_failed', detail: failure };
  return { ok: false, errorClass: 'dns_not_found', detail: codes[0] ?? '' };
}

/** Both families in turn, so that a machine with only one of them is not kept waiting by the other. */
function interleave(first: string[], second: string[]): string[] {
  const longest = Math.max(first.length, second.length);
  return Array.from({ length: longest }, (_, at) => [first[at], second[at]])
    .flat()
    .filter((address) => address !== undefined);
}

function valueOf(settled: PromiseSettledResult<string[]>): string[] {
  return settled.status === 'fulfilled' ? settled.value : [];
}

function codeOf(settled: PromiseSettledResult<string[]>): string {
  if (settled.status === 'fulfilled') return 'ENODATA';
  const reason: unknown = settled.reason;
  return reason instanceof Error && 'code' in reason ? String(reason.code) : 'EUNKNOWN';
}
