import { isIP } from 'node:net';

/** The site that passkeys are bound to, as WebAuthn calls it: browsers use a passkey for this name and origin alone. */
export type RelyingParty = { id: string; origin: string };

/**
 * Undefined where passkeys are not possible: browsers want a name and no IP address, and HTTPS everywhere but on localhost. The address comes
 * from the settings and never from a request, whose sender chooses it.
 */
export function relyingPartyOf(consoleUrl: string | undefined): RelyingParty | undefined {
  const url = URL.parse(consoleUrl ?? '');
  if (url === null) return undefined;
  const { hostname, origin, protocol } = url;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (isIP(hostname.replaceAll(/^\[|\]$/g, '')) !== 0 || (protocol !== 'https:' && !isLocal)) return undefined;
  return { id: hostname, origin };
}
