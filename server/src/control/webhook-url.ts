import ipaddr from 'ipaddr.js';
import { addressProblem, type AllowedNetworks } from '../http/address-policy.ts';

const RESERVED_SUFFIXES = ['local', 'internal', 'home.arpa', 'localdomain'];
/** Names of this machine and of cloud metadata services: refused even where private networks are allowed. */
const REFUSED_NAMES = ['localhost', 'metadata.google.internal', 'metadata.goog', 'instance-data'];
/** What is wrong with a webhook's URL, in words that say what to change; undefined when nothing is. */
export function urlProblem(text: string, allowed: AllowedNetworks): string | undefined {
  if (/[\s\p{Cc}\\]/u.test(text)) return 'must not contain spaces, control characters or backslashes';
  if (!URL.canParse(text)) return 'must be an absolute URL, such as https://example.com/hook';
  const url = new URL(text);
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:';
  if (!isHttp || !/^https?:\/\//i.test(text)) return 'must begin with http:// or https://';
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text))
    return 'must not contain a user or password: use a header instead';
  if (text.includes('#')) return 'must not contain a fragment (#…)';
  if (url.port === '0') return 'must not use port 0';
  return hostProblem(url.hostname, allowed);
}

function hostProblem(hostname: string, allowed: AllowedNetworks): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (host === '' || host.length > 253) return 'must name a host of at most 253 characters';
  if (ipaddr.isValid(host)) return addressProblem(host, allowed);
  if (REFUSED_NAMES.some((name) => isName(host, name))) return `must not use the reserved name ${host}`;
  // Names inside a network of their own are for those who have one; what they lead to is checked when we connect.
  if (allowed.length > 0) return undefined;
  if (!host.includes('.')) return 'must name a host with a full domain name';
  const isReserved = RESERVED_SUFFIXES.some((suffix) => isName(host, suffix));
  return isReserved ? `must not use the reserved name ${host}` : undefined;
}

function isName(host: string, suffix: string): boolean {
  return host === suffix || host.endsWith(`.${suffix}`);
}
