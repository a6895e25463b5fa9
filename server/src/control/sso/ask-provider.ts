/** Asks an OpenID provider: its discovery document, the page to sign in at, and the claims for the code that comes back. */
import * as openid from 'openid-client';
import { checkClock, CLOCK_TOLERANCE_S } from './check-clock.ts';
import { explainFailure } from './explain-failure.ts';
import type { ProviderAsk } from './open-provider-fetch.ts';
import { ProviderTrouble } from './provider-trouble.ts';
import { isPageUrl } from './provider-url.ts';

/** A connection with its secret open. */
export type OpenConnection = { issuer: string; clientId: string; clientSecret: string };

/** The secrets of one sign-in. */
export type Secrets = { state: string; nonce: string; verifier: string };
export type Claims = Readonly<Record<string, unknown>> & { sub: string };
export type Exchanged = { claims: Claims; userInfo: Claims | undefined; signOutUrl: string | null };

export type AskNeeds = { fetch: ProviderAsk; now(): Date };
type Metadata = openid.ServerMetadata;

const TIMEOUT_S = 10;
const PKCE = 'S256';

export async function discover(issuer: string, { fetch }: Pick<AskNeeds, 'fetch'>): Promise<Metadata> {
  const execute = isPlain(issuer) ? [openid.allowInsecureRequests] : [];
  try {
    const options = { [openid.customFetch]: fetch, timeout: TIMEOUT_S, execute };
    const config = await openid.discovery(new URL(issuer), 'unused', undefined, undefined, options);
    // A plain copy: the library's own has functions, which it does not take back.
    return mustBeUsable(JSON.parse(JSON.stringify(config.serverMetadata())) as Metadata, issuer);
  } catch (error) {
    throw explainFailure(error);
  }
}

/** The library lets some providers name an issuer for all their customers: each of these could then sign in here. */
function mustBeUsable(metadata: Metadata, issuer: string): Metadata {
  if (URL.parse(metadata.issuer)?.href !== new URL(issuer).href) {
    throw new ProviderTrouble(
      'wrong_issuer',
      'The discovery document names another issuer than the one of the connection.',
    );
  }
  const { authorization_endpoint: page, token_endpoint: token, jwks_uri: keys } = metadata;
  if (page === undefined || token === undefined || keys === undefined) {
    throw new ProviderTrouble(
      'wrong_document',
      'The discovery document lacks the page to sign in, the token endpoint or the keys.',
    );
  }
  const lists = [metadata.scopes_supported, metadata.token_endpoint_auth_methods_supported];
  if (lists.some((list) => list !== undefined && !Array.isArray(list))) {
    throw new ProviderTrouble('wrong_document', 'The discovery document has a text or a number where a list belongs.');
  }
  if (!isPageUrl(page)) {
    throw new ProviderTrouble('wrong_document', 'The page to sign in, by the discovery document, is no https address.');
  }
  return metadata;
}

export type Start = Pick<Secrets, 'state' | 'nonce'> & { redirectUri: string; challenge: string; loginHint?: string };

export function signInPage(connection: OpenConnection, metadata: Metadata, start: Start, needs: AskNeeds): string {
  const { state, nonce, redirectUri, challenge, loginHint } = start;
  const scopes = ['openid', 'email', 'profile', ...(metadata.scopes_supported?.includes('groups') ? ['groups'] : [])];
  const parameters = {
    scope: scopes.join(' '),
    redirect_uri: redirectUri,
    response_type: 'code',
    state,
    nonce,
    code_challenge: challenge,
    code_challenge_method: PKCE,
    ...(loginHint === undefined ? {} : { login_hint: loginHint }),
  };
  return openid.buildAuthorizationUrl(configure(connection, metadata, needs), parameters).href;
}

export type Answered = {
  redirectUri: string;
  /** Of the redirect URI, as the provider has called it. */
  query: string;
  secrets: Secrets;
  signedOutUri: string;
  /** Claims that are asked for at the userinfo endpoint, if the ID token lacks one. */
  wanted: readonly string[];
};

/**
 * Exchanges the code. The library checks state, issuer, signature, audience, nonce and expiry. The keys of the provider are fetched for
 * each code that it has accepted, so a new key works at once, and only people of the provider cause a request for keys.
 */
export async function exchangeCode(
  connection: OpenConnection,
  metadata: Metadata,
  answered: Answered,
  needs: AskNeeds,
): Promise<Exchanged> {
  const { secrets, redirectUri, query, wanted } = answered;
  const config = configure(connection, metadata, needs);
  try {
    const tokens = await openid.authorizationCodeGrant(config, new URL(`${redirectUri}?${query}`), {
      expectedState: secrets.state,
      expectedNonce: secrets.nonce,
      pkceCodeVerifier: secrets.verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new ProviderTrouble('wrong_token', 'The provider sent no ID token.');
    checkClock(claims.iat, needs.now());
    const isAsked = metadata.userinfo_endpoint !== undefined && wanted.some((name) => claims[name] === undefined);
    const userInfo = isAsked ? await openid.fetchUserInfo(config, tokens.access_token, claims.sub) : undefined;
    return { claims, userInfo, signOutUrl: signOutPage(config, metadata, connection, answered) };
  } catch (error) {
    throw explainFailure(error);
  }
}

/** Without the ID token as a hint: it would have to be kept. The provider asks the person once more instead. */
function signOutPage(
  config: openid.Configuration,
  { end_session_endpoint: page }: Metadata,
  { clientId }: OpenConnection,
  { signedOutUri }: Answered,
): string | null {
  if (page === undefined || !isPageUrl(page)) return null;
  const parameters = { client_id: clientId, post_logout_redirect_uri: signedOutUri };
  return openid.buildEndSessionUrl(config, parameters).href;
}

/** New for each sign-in: the library keeps fetched keys with it. */
export function configure(
  connection: OpenConnection,
  metadata: Metadata,
  { fetch, now }: AskNeeds,
): openid.Configuration {
  const { clientId, clientSecret, issuer } = connection;
  const skew = Math.round((now().getTime() - Date.now()) / 1_000);
  const clocks = { [openid.clockSkew]: skew, [openid.clockTolerance]: CLOCK_TOLERANCE_S };
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authenticate = methods.includes('client_secret_basic') ? openid.ClientSecretBasic : openid.ClientSecretPost;
  const config = new openid.Configuration(metadata, clientId, clocks, authenticate(clientSecret));
  config[openid.customFetch] = fetch;
  config.timeout = TIMEOUT_S;
  openid.enableNonRepudiationChecks(config);
  if (isPlain(issuer)) openid.allowInsecureRequests(config);
  return config;
}

/** `providerUrlProblem` lets plain HTTP pass on this machine only. */
function isPlain(issuer: string): boolean {
  return new URL(issuer).protocol === 'http:';
}

export async function makeSecrets(): Promise<Secrets & { challenge: string }> {
  const verifier = openid.randomPKCECodeVerifier();
  const challenge = await openid.calculatePKCECodeChallenge(verifier);
  return { state: openid.randomState(), nonce: openid.randomNonce(), verifier, challenge };
}
