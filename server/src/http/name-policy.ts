import type { Networks } from './address-policy.ts';

const RESERVED_SUFFIXES = ['local', 'internal', 'home.arpa', 'localdomain'];
/** Names of this machine and of cloud metadata services: refused even where private networks are allowed. */
const REFUSED_NAMES = ['localhost', 'metadata.google.internal', 'metadata.goog', 'instance-data'];

/** Whether a host's name may be looked up at all; the client checks its addresses when it connects. */
export function nameProblem(host: string, { allowed }: Networks): string | undefined {
  // Resolvers read `localhost..` in their own ways, and no rule below would match it.
  if (host.split('.').includes('')) return 'must not name a host with an empty part between dots';
  if (REFUSED_NAMES.some((name) => isName(host, name))) return `must not use the reserved name ${host}`;
  // Installations that allow private networks may use names inside them.
  if (allowed.length > 0) return undefined;
  if (!host.includes('.')) return 'must name a host with a full domain name';
  const isReserved = RESERVED_SUFFIXES.some((suffix) => isName(host, suffix));
  return isReserved ? `must not use the reserved name ${host}` : undefined;
}

function isName(host: string, suffix: string): boolean {
  return host === suffix || host.endsWith(`.${suffix}`);
}
