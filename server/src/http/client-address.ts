import { BlockList, isIP } from 'node:net';

export type AddressReader = (peer: string | undefined, forwardedFor: string | undefined) => string;

/**
 * The address a request came from. `X-Forwarded-For` is believed only as far as our own proxies wrote it: from the right,
 * the first address that is not one of them.
 */
export function openAddressReader(trustedCidrs: string[]): AddressReader {
  const trusted = new BlockList();
  for (const cidr of trustedCidrs) {
    const [network = '', bits = ''] = cidr.split('/');
    trusted.addSubnet(network, Number(bits), isIP(network) === 6 ? 'ipv6' : 'ipv4');
  }
  const isTrusted = (address: string) => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

  return (peer, forwardedFor) => {
    let address = plain(peer ?? '');
    const hops = forwardedFor === undefined ? [] : forwardedFor.split(',');
    while (hops.length > 0 && isIP(address) !== 0 && isTrusted(address)) {
      const previous = plain(hops.pop() ?? '');
      if (isIP(previous) === 0) break;
      address = previous;
    }
    return address;
  };
}

/** A dual-stack socket shows an IPv4 peer as ::ffff:1.2.3.4. */
function plain(address: string): string {
  const trimmed = address.trim();
  return trimmed.startsWith('::ffff:') && isIP(trimmed.slice(7)) === 4 ? trimmed.slice(7) : trimmed;
}
