/** A sign-in at a provider begins: control keeps its secrets sealed until the answer comes back, and the browser keeps a cookie. */
import { randomBytes } from 'node:crypto';
import { newId } from '../../../store/new-id.ts';
import { insertAttempt, keepLatestAttempts } from '../../../store/sso-attempts.ts';
import type { ConnectionRow } from '../../../store/sso-connections.ts';
import { hashOfSecret } from '../../access/secret-text.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { ApiProblem } from '../../problems/problems.ts';
import { makeSecrets, type Secrets } from '../../sso/ask-provider.ts';
import { ProviderTrouble } from '../../sso/provider-trouble.ts';
import { addressesOf } from '../../sso/single-sign-on.ts';
import { mustBePossible, openConnection } from './open-connection.ts';

const VALID_MS = 600_000;
/** Of one workspace. */
const MAX_OPEN = 20_000;

export type Beginning = {
  row: ConnectionRow;
  /** The cookie that the browser has from an earlier try. */
  browser: string | undefined;
  loginHint?: string;
  /** The account that is to be linked. */
  link: { userId: string; sessionId: string } | null;
};
export type Started = { url: string; browser: string };

export async function beginAttempt(beginning: Beginning, needs: ControlNeeds): Promise<Started> {
  const { row, link, loginHint } = beginning;
  const { store, keyRing, now } = needs;
  const singleSignOn = mustBePossible(needs);
  const { workspace_id: workspaceId } = row;
  const { challenge, ...secrets } = await makeSecrets();
  const { redirectUri } = addressesOf(singleSignOn, workspaceId);
  const start = { ...secrets, redirectUri, challenge, ...(loginHint === undefined ? {} : { loginHint }) };
  const url = await singleSignOn.providers
    .signInPage(workspaceId, openConnection(row, keyRing), start)
    .catch(answerTrouble);
  const browser = isBrowserCookie(beginning.browser) ? beginning.browser : randomBytes(32).toString('base64url');
  const id = newId('sat');
  await store.asSystem(async (tx) => {
    await insertAttempt(tx, {
      workspaceId,
      id,
      stateHash: hashOfSecret(secrets.state),
      browserHash: hashOfSecret(browser),
      contentSealed: keyRing.seal(JSON.stringify(secrets), placeOfAttempt(workspaceId, id)),
      link,
      expiresAt: new Date(now().getTime() + VALID_MS),
    });
    await keepLatestAttempts(tx, workspaceId, MAX_OPEN);
  });
  return { url, browser };
}

export function openSecrets(
  { workspace_id: workspaceId, id, content_sealed }: { workspace_id: string; id: string; content_sealed: Buffer },
  { keyRing }: Pick<ControlNeeds, 'keyRing'>,
): Secrets {
  return JSON.parse(keyRing.open(content_sealed, placeOfAttempt(workspaceId, id))) as Secrets;
}

export function isBrowserCookie(cookie: string | undefined): cookie is string {
  return cookie !== undefined && /^[\w-]{43}$/.test(cookie);
}

/** Trouble at the provider is no fault of ours, and the person is told. */
export function answerTrouble(error: unknown): never {
  if (error instanceof ProviderTrouble) {
    throw new ApiProblem('sso_failed', [{ path: `/provider/${error.kind}`, message: error.message }]);
  }
  throw error;
}

function placeOfAttempt(workspaceId: string, id: string) {
  return { workspaceId, table: 'sso_attempts', column: 'content_sealed', rowId: id };
}
