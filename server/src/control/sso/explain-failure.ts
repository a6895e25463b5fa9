/** Puts failures of the provider into words, for the person who signs in and for the owner of the workspace. */
import { clockTrouble } from './check-clock.ts';
import { ProviderTrouble } from './provider-trouble.ts';

/** Says what the library, or the fetch below it, has thrown. Never repeats a text of the provider, only its short codes. */
export function explainFailure(thrown: unknown): ProviderTrouble {
  const chain = causesOf(thrown);
  const own = chain.find((error) => error instanceof ProviderTrouble);
  if (own !== undefined) return own;
  const codes = chain.map(codeOf);
  const has = (code: string) => codes.includes(`OAUTH_${code}`);
  const words = chain.map(messageOf).join(' ');
  if (has('TIMEOUT') || has('ABORT')) return trouble('too_slow', 'The provider did not answer in time.');
  if (has('AUTHORIZATION_RESPONSE_ERROR')) return pageRefusal(errorNamed(chain));
  if (has('RESPONSE_BODY_ERROR') || has('WWW_AUTHENTICATE_CHALLENGE')) return tokenRefusal(errorNamed(chain));
  if (has('JWT_TIMESTAMP_CHECK_FAILED')) return wrongTime(chain);
  if (has('JSON_ATTRIBUTE_COMPARISON_FAILED') || /issuer/.test(words)) {
    return trouble('wrong_issuer', 'The answer came from another provider than the one that was asked.');
  }
  if (has('KEY_SELECTION_FAILED')) {
    return trouble('wrong_token', 'The provider does not publish the key with which it signed the ID token.');
  }
  if (has('JWT_CLAIM_COMPARISON_FAILED') || has('INVALID_RESPONSE')) {
    return trouble('wrong_token', `The answer does not belong to this sign-in (${claimNamed(chain, words)}).`);
  }
  return trouble(
    'wrong_document',
    `The provider answered with something that OpenID Connect does not know (${shortCode(codes)}).`,
  );
}

function pageRefusal(error: string): ProviderTrouble {
  if (error === 'invalid_scope') {
    return trouble(
      'not_signed_in',
      'The provider offers a scope that it does not give to this client (invalid_scope): allow it openid, email, profile and, if the provider has it, groups.',
    );
  }
  return trouble('not_signed_in', `The provider did not sign you in (${error}).`);
}

/** Keycloak's tokens are valid for five minutes, and the library looks at that before we compare the clocks. */
function wrongTime(chain: readonly unknown[]): ProviderTrouble {
  const cause = chain.find((each) => isRecord(each) && isRecord(each['claims']));
  const { claims, now } = (cause ?? {}) as { claims?: Record<string, unknown>; now?: unknown };
  const issuedAt = claims?.['iat'];
  const byClocks = typeof issuedAt === 'number' && typeof now === 'number' ? clockTrouble(issuedAt, now) : undefined;
  const sentence = 'The ID token has expired or is not valid yet: the clock of the provider is wrong, or ours.';
  return byClocks ?? trouble('wrong_clock', sentence);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function tokenRefusal(error: string): ProviderTrouble {
  if (error === 'invalid_grant') {
    return trouble(
      'code_refused',
      'The provider refused the code: it was used already, has expired, or is of another sign-in.',
    );
  }
  if (error === 'invalid_client' || error === 'unauthorized_client' || error === 'unknown') {
    return trouble('wrong_client', 'The provider does not know the client: its id or its secret is wrong.');
  }
  return trouble('code_refused', `The provider refused the code (${error}).`);
}

function trouble(kind: ConstructorParameters<typeof ProviderTrouble>[0], sentence: string): ProviderTrouble {
  return new ProviderTrouble(kind, sentence);
}

const MAX_CAUSES = 10;

function causesOf(thrown: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let next = thrown; next !== undefined && chain.length < MAX_CAUSES; ) {
    chain.push(next);
    next = next instanceof Error ? next.cause : undefined;
  }
  return chain;
}

function codeOf(value: unknown): string {
  return value instanceof Error && 'code' in value && typeof value.code === 'string' ? value.code : '';
}

function messageOf(value: unknown): string {
  return value instanceof Error ? value.message : '';
}

/** The OAuth error code, if it looks like one. */
function errorNamed(chain: readonly unknown[]): string {
  for (const each of chain) {
    if (
      each instanceof Error &&
      'error' in each &&
      typeof each.error === 'string' &&
      /^[a-z_]{1,50}$/.test(each.error)
    ) {
      return each.error;
    }
  }
  return 'unknown';
}

function claimNamed(chain: readonly unknown[], words: string): string {
  for (const each of chain) {
    if (typeof each === 'object' && each !== null && 'claim' in each && typeof each.claim === 'string')
      return each.claim;
  }
  return /signature/.test(words) ? 'signature' : (/"(nonce|state|iss|aud|azp|sub|iat|exp)"/.exec(words)?.[1] ?? 'form');
}

function shortCode(codes: readonly string[]): string {
  return (codes.find((code) => code.startsWith('OAUTH_')) ?? 'unknown').replace('OAUTH_', '').toLowerCase();
}
