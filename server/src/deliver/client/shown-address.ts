import { isIP } from 'node:net';
import { addressProblem } from '../../http/address-policy.ts';

const NOTHING_ALLOWED = { allowed: [], denied: [] };

/**
 * Whether the owner of a URL may see an address behind it: one that the URL itself has, or a public one. Which addresses
 * the names inside the operator's network have is for the operator, also where MILLRACE_ALLOW_CIDRS opens it.
 */
export function isShown(address: string, host: string): boolean {
  return address === host || (isIP(address) !== 0 && addressProblem(address, NOTHING_ALLOWED) === undefined);
}
