import type { IncomingHttpHeaders } from 'node:http';
import { ApiProblem } from '../problems/problems.ts';

/** Browsers send this header to another site only after a CORS preflight, and we never allow one. */
export const CSRF_HEADER = 'millrace-csrf';

/** A write that is authenticated by a cookie must come from our own pages: browsers send cookies with requests of any site. */
export function mustBeOurPage(headers: IncomingHttpHeaders): void {
  if (!isSameOrigin(headers) || headers[CSRF_HEADER] === undefined) throw new ApiProblem('cross_site');
}

/** For signing in, where there is no cookie yet: another site must not sign its visitor in to a foreign account. */
export function mustNotBeAnotherSite(headers: IncomingHttpHeaders): void {
  const isFromBrowser = headers['sec-fetch-site'] !== undefined || headers.origin !== undefined;
  if (isFromBrowser && !isSameOrigin(headers)) throw new ApiProblem('cross_site');
}

function isSameOrigin({ 'sec-fetch-site': site, origin, host }: IncomingHttpHeaders): boolean {
  if (site !== undefined) return site === 'same-origin';
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}
