import ipaddr from 'ipaddr.js';

type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** Networks by the operator's settings: `allowed` ones although not public, `denied` ones although public. */
export type Networks = { allowed: Network[]; denied: Network[] };

/** Cloud metadata services: refused even inside an allowed network. */
const METADATA = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '168.63.129.16',
  'fd00:ec2::23',
  'fd00:ec2::254',
  'fd20:ce::254',
].map((text) => ipaddr.parse(text).toNormalizedString());
/** Special ranges that the library calls unicast. Everything else that is not unicast is refused by its name. */
const ALSO_REFUSED = [
  '168.63.129.16/32',
  '192.0.0.0/24',
  '2001::/23',
  '2001:db8::/32',
  '2620:4f:8000::/48',
  '3fff::/20',
].map((cidr) => ipaddr.parseCIDR(cidr));
const PUBLIC_V6 = ipaddr.parseCIDR('2000::/3');

/** Each as in `10.0.0.0/8,fd12::/16`; throws on the first part that is not a network. */
export function readNetworks(allowed: string, denied = ''): Networks {
  return { allowed: readCidrs(allowed), denied: readCidrs(denied) };
}

function readCidrs(text: string): Network[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '').map((part) => plainNetwork(ipaddr.parseCIDR(part)));
}

/** One of IPv4 addresses that is written as one of IPv6 would match nothing. */
function plainNetwork([address, bits]: Network): Network {
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96;
  return isMapped ? [address.toIPv4Address(), bits - 96] : [address, bits];
}

/** Why an address may not be connected to; undefined if it may. An allow-list of public addresses, not a deny-list. */
export function addressProblem(text: string, { allowed, denied }: Networks): string | undefined {
  const address = ipaddr.parse(text);
  const forms = formsOf(address);
  const isMetadata = forms.some((form) => METADATA.includes(form.toNormalizedString()));
  if (isMetadata) return `must not be the metadata address ${text}`;
  const isDenied = forms.some((form) => isInOneOf(form, denied));
  if (isDenied) return `must not be the address ${text}, which MILLRACE_DENY_CIDRS closes`;
  if (isInOneOf(address, allowed)) return undefined;
  const refusal = `must not be the address ${text}, which is not public; MILLRACE_ALLOW_CIDRS can allow your own network`;
  if (isInOneOf(address, ALSO_REFUSED)) return refusal;
  if (address.range() !== 'unicast') return refusal;
  return address.kind() === 'ipv6' && !isInside(address, PUBLIC_V6) ? refusal : undefined;
}

/**
 * A connection that begins and ends at the same address leads to this very machine, by an address that may well be public. Other
 * services on it may trust local connections.
 */
export function selfProblem({ from, to }: { from: string; to: string }, { allowed }: Networks): string | undefined {
  if (from !== to || isInOneOf(ipaddr.parse(to), allowed)) return undefined;
  return `must not be the address ${to}, which is this server's own; MILLRACE_ALLOW_CIDRS can allow it`;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The address, and every IPv4 address that one of the transition schemes could read out of it. */
function formsOf(address: Address): Address[] {
  if (!(address instanceof ipaddr.IPv6)) return [address];
  const bytes = address.toByteArray();
  // 6to4 keeps it behind its first two bytes, everything else at the end; Teredo keeps it there inverted.
  const tail = bytes.slice(12);
  const inside = [bytes.slice(2, 6), tail, tail.map((byte) => byte ^ 0xff)];
  return [address, ...inside.map((four) => new ipaddr.IPv4(four))];
}

function isInOneOf(address: Address, networks: readonly Network[]): boolean {
  return networks.some((network) => isInside(address, network));
}

function isInside(address: Address, [network, bits]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}
