import ipaddr from 'ipaddr.js';
import type { Networks } from '../../http/address-policy.ts';
import { urlProblem } from '../settings/webhook-url.ts';

/**
 * Why control does not ask a URL of a provider; undefined if it does. The rules of webhooks hold, and TLS: without it, a listener on the
 * way could sign in as anyone. Plain HTTP stays on this machine: a loopback address that MILLRACE_ALLOW_CIDRS allows.
 */
export function providerUrlProblem(text: string, networks: Networks): string | undefined {
  const problem = urlProblem(text, networks);
  if (problem !== undefined) return problem;
  const { protocol, hostname } = new URL(text);
  if (protocol === 'https:' || isLoopback(hostname)) return undefined;
  return 'must begin with https://';
}

/** The issuer is a prefix of other addresses, and names a person's account for good. */
export function issuerProblem(text: string, networks: Networks): string | undefined {
  if (/[?#]/.test(text)) return 'must not have a query or a fragment';
  return providerUrlProblem(text, networks);
}

/** Whether the browser may be sent there. A provider chooses these addresses, and a browser runs `javascript:`. */
export function isPageUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}

function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(host) && ipaddr.parse(host).range() === 'loopback';
}
