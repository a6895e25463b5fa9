/**
 * Decides which callers the loopback server answers. Every web page that a browser of this machine shows can reach it, and a page whose
 * name was pointed at 127.0.0.1 can read its answers: so the name of the server and the origin of the page have to be of this machine.
 */
import type { IncomingHttpHeaders } from 'node:http';

type Caller = Pick<IncomingHttpHeaders, 'host' | 'origin'>;

/** Why the request is refused; undefined when it is not. A program that is no browser sends no origin. */
export function refusedCaller({ host, origin }: Caller, allowedOrigins: readonly string[]): string | undefined {
  const allowed = allowedOrigins.map((each) => new URL(each));
  const address = host === undefined ? undefined : parse(`http://${host}`);
  const names = new Set(allowed.map(({ hostname }) => hostname));
  if (host !== undefined && !(address && (isLoopback(address.hostname) || names.has(address.hostname)))) {
    return `the request is for the host ${host}, which is no name of this machine`;
  }
  if (origin === undefined) return undefined;
  const page = parse(origin);
  if (page && (isLoopback(page.hostname) || allowed.some((each) => each.origin === page.origin))) return undefined;
  return `a web page of ${origin} sent it; --allow-origin ${origin} allows that`;
}

/** Names below localhost are of this machine by rule (RFC 6761). */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost\.?|127(?:\.\d{1,3}){3}|\[::1\])$/i.test(hostname);
}

function parse(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
