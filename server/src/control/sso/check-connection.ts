/** Whether a connection would work, step by step; it starts no session. */
import * as openid from 'openid-client';
import type { Networks } from '../../http/address-policy.ts';
import { type AskNeeds, configure, discover, type OpenConnection } from './ask-provider.ts';
import { explainFailure } from './explain-failure.ts';
import { issuerProblem } from './provider-url.ts';

export type CheckedStep = {
  step: 'address' | 'discovery' | 'features' | 'keys' | 'client';
  ok: boolean;
  detail: string;
};

type CheckNeeds = AskNeeds & { networks: Networks };
type Step = CheckedStep['step'];

/** The steps until the first that fails. */
export async function checkConnection(
  connection: OpenConnection,
  redirectUri: string,
  needs: CheckNeeds,
): Promise<CheckedStep[]> {
  const steps: CheckedStep[] = [];
  const add = (step: Step, ok: boolean, detail: string) => {
    steps.push({ step, ok, detail });
    return ok;
  };
  const problem = issuerProblem(connection.issuer, needs.networks);
  if (
    !add(
      'address',
      problem === undefined,
      problem === undefined ? 'The address can be asked.' : `The issuer ${problem}.`,
    )
  )
    return steps;
  let step: Step = 'discovery';
  try {
    const metadata = await discover(connection.issuer, needs);
    add('discovery', true, 'The discovery document was read, and names this issuer.');
    step = 'features';
    if (!add('features', ...judgeFeatures(metadata))) return steps;
    step = 'keys';
    if (!add('keys', ...(await readKeys(metadata.jwks_uri ?? '', needs)))) return steps;
    step = 'client';
    add('client', ...(await tryClient(connection, { metadata, redirectUri }, needs)));
  } catch (error) {
    add(step, false, explainFailure(error).message);
  }
  return steps;
}

type Judged = [ok: boolean, detail: string];

function judgeFeatures(metadata: openid.ServerMetadata): Judged {
  const types = metadata.response_types_supported ?? ['code'];
  if (!types.includes('code')) return [false, 'The provider does not offer the authorization code flow.'];
  const methods = metadata.code_challenge_methods_supported;
  if (methods !== undefined && !methods.includes('S256')) return [false, 'The provider does not offer PKCE with S256.'];
  const signOut = metadata.end_session_endpoint === undefined ? 'has no page to sign out' : 'has a page to sign out';
  const pkce = methods === undefined ? 'does not say whether it checks PKCE' : 'checks PKCE';
  return [true, `The provider offers the code flow, ${pkce}, and ${signOut}.`];
}

async function readKeys(url: string, { fetch }: AskNeeds): Promise<Judged> {
  const answer = await fetch(url, { method: 'GET', headers: { accept: 'application/json' } });
  const set = answer.ok ? ((await answer.json()) as { keys?: unknown }) : {};
  const keys = Array.isArray(set.keys) ? set.keys.length : 0;
  return keys === 0
    ? [false, `The provider publishes no keys (status ${answer.status}).`]
    : [true, `The provider publishes its keys (${keys}).`];
}

type AtProvider = { metadata: openid.ServerMetadata; redirectUri: string };

/** A code that never was: a provider that knows the client refuses the code, and one that does not refuses the client. */
async function tryClient(
  connection: OpenConnection,
  { metadata, redirectUri }: AtProvider,
  needs: AskNeeds,
): Promise<Judged> {
  const code = { code: 'connection-test', redirect_uri: redirectUri, code_verifier: openid.randomPKCECodeVerifier() };
  try {
    await openid.genericGrantRequest(configure(connection, metadata, needs), 'authorization_code', code);
  } catch (error) {
    const trouble = explainFailure(error);
    if (trouble.kind === 'code_refused') return [true, 'The provider knows the client and its secret.'];
    return [false, trouble.message];
  }
  return [false, 'The provider accepted a code that it never issued.'];
}
