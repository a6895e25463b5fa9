import type { IncomingHttpHeaders } from 'node:http';
import { ApiProblem } from '../problems/problems.ts';

/** Browsers send a header of this name to another site only after asking it, and we never say yes. */
export const CSRF_HEADER = 'millrace-csrf';

/** A write that a cookie vouches for has to come from our own pages: browsers send cookies along for anybody. */
export function mustBeOurPage(headers: IncomingHttpHeaders): void {
  if (!isSameOrigin(headers) || headers[CSRF_HEADER] === undefined) throw new ApiProblem('cross_site');
}

/** For signing in, where no cookie vouches yet: another site must not sign its visitor in as somebody else. */
export function mustNotBeAnotherSite(headers: IncomingHttpHeaders): void {
  const isFromBrowser = headers['sec-fetch-site'] !== undefined || headers.origin !== undefined;
  if (isFromBrowser && !isSameOrigin(headers)) throw new ApiProblem('cross_site');
}

function isSameOrigin({ 'sec-fetch-site': site, origin, host }: IncomingHttpHeaders): boolean {
  if (site !== undefined) return site === 'same-origin';
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}
