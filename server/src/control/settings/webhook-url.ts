import ipaddr from 'ipaddr.js';
import { addressProblem, type Networks } from '../../http/address-policy.ts';
import { nameProblem } from '../../http/name-policy.ts';
import { portProblem } from '../../http/port-policy.ts';

/** The problem of a webhook's URL, with its remedy; undefined when the URL is fine. */
export function urlProblem(text: string, networks: Networks): string | undefined {
  if (/[\s\p{Cc}\\]/u.test(text)) return 'must not contain spaces, control characters or backslashes';
  if (!URL.canParse(text)) return 'must be an absolute URL, such as https://example.com/hook';
  const url = new URL(text);
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:';
  if (!isHttp || !/^https?:\/\//i.test(text)) return 'must begin with http:// or https://';
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text))
    return 'must not contain a user or password: use a header instead';
  if (text.includes('#')) return 'must not contain a fragment (#…)';
  const port = url.port === '' ? undefined : portProblem(Number(url.port));
  return port ?? hostProblem(url.hostname, networks);
}

function hostProblem(hostname: string, networks: Networks): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (host === '' || host.length > 253) return 'must name a host of at most 253 characters';
  return ipaddr.isValid(host) ? addressProblem(host, networks) : nameProblem(host, networks);
}
