import { isIP } from 'node:net';
import { addressProblem, type Networks } from '../../http/address-policy.ts';
import { nameProblem } from '../../http/name-policy.ts';
import { portProblem } from '../../http/port-policy.ts';
import type { ErrorClass } from './error-classes.ts';

/** Where a URL leads, taken apart once. */
export type Target = {
  origin: string;
  /** Path and query, as the request line has them. */
  path: string;
  /** A name without its last dot, or an address without brackets. */
  host: string;
  port: number;
  isTls: boolean;
  /** Why no POST may go there, whatever DNS says. */
  problem?: { errorClass: ErrorClass; detail: string };
};

const KEPT_TARGETS = 10_000;

/** Reads URLs and remembers the last ones: parsing one costs as much as signing a body. */
export function openTargetReader(networks: Networks): (url: string) => Target {
  // Two generations instead of one ordered list: a hit in the young one, the usual case, changes nothing.
  let young = new Map<string, Target>();
  let old = new Map<string, Target>();
  return (url) => {
    const known = young.get(url);
    if (known !== undefined) return known;
    const target = old.get(url) ?? readTarget(url, networks);
    if (young.size >= KEPT_TARGETS / 2) {
      old = young;
      young = new Map();
    }
    young.set(url, target);
    return target;
  };
}

/** The saved URL is checked again in full: rules grow, and rows can be written by other hands. */
function readTarget(text: string, networks: Networks): Target {
  if (!URL.canParse(text)) return nowhere('is not an absolute URL');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return nowhere('must begin with http:// or https://');
  if (url.username !== '' || url.password !== '') return nowhere('must not contain a user or password');
  const isTls = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (host === '' || host.length > 253) return nowhere('must name a host of at most 253 characters');
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port);
  const target: Target = { origin: url.origin, path: url.pathname + url.search, host, port, isTls };
  const isAddress = isIP(host) !== 0;
  const detail = portProblem(port) ?? (isAddress ? addressProblem(host, networks) : nameProblem(host, networks));
  return detail === undefined ? target : { ...target, problem: { errorClass: 'address_forbidden', detail } };
}

function nowhere(detail: string): Target {
  const problem = { errorClass: 'url_invalid' as const, detail };
  return { origin: '', path: '', host: '', port: 0, isTls: false, problem };
}
