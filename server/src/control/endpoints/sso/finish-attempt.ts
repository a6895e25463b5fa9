/** The answer of a provider ends a sign-in: with a session of one workspace, with a linked account, or with a reason. */
import { appendAudit } from '../../../store/audit-log.ts';
import { findMember } from '../../../store/members.ts';
import type { Tx } from '../../../store/open-store.ts';
import { deleteOtherSessions, sessionStands } from '../../../store/sessions.ts';
import { type AttemptRow, takeAttempt } from '../../../store/sso-attempts.ts';
import {
  type ConnectionRow,
  findConnection,
  listDomains,
  lockConnection,
  noteSignIn,
} from '../../../store/sso-connections.ts';
import { findUser } from '../../../store/users.ts';
import { hashOfSecret } from '../../access/secret-text.ts';
import { startSession } from '../../access/start-session.ts';
import type { AccountNeeds } from '../../http/account-route.ts';
import { tellAccount } from '../../mail/tell-account.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import type { Exchanged } from '../../sso/ask-provider.ts';
import { linkPerson, placePerson } from '../../sso/place-person.ts';
import {
  type ReadPerson,
  readPerson,
  type Person,
  REFUSAL_SENTENCES,
  type RefusalKind,
} from '../../sso/read-person.ts';
import { addressesOf } from '../../sso/single-sign-on.ts';
import { answerTrouble, isBrowserCookie, openSecrets } from './begin-attempt.ts';
import { isOtherClient } from './change-connection.ts';
import { mustBePossible, openConnection } from './open-connection.ts';

export type Answer = {
  workspaceId: string;
  query: string;
  browser: string | undefined;
  address: string;
  userAgent: string;
};
export type Finished = { kind: 'signed_in'; session: string } | { kind: 'linked' };

/** In the audit log of a workspace in a minute: a stranger who begins and answers at random must not fill it. */
const REFUSALS_PER_MINUTE = 6;

export async function finishAttempt(answer: Answer, needs: AccountNeeds): Promise<Finished> {
  const count = needs.metrics?.counters('millrace_sign_ins_total');
  try {
    const finished = await finish(answer, needs);
    count?.('sso_right').add();
    return finished;
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    count?.(error.code === 'sso_refused' ? 'sso_refused' : 'sso_failed').add();
    throw error;
  }
}

async function finish(answer: Answer, needs: AccountNeeds): Promise<Finished> {
  const { workspaceId } = answer;
  const attempt = await take(answer, needs);
  const row = await needs.store.asSystem((tx) => findConnection(tx, workspaceId));
  // Deleted meanwhile.
  if (row === undefined) throw new ApiProblem('sso_ended');
  try {
    const exchanged = await exchange(attempt, row, answer, needs);
    const { user_id: userId, session_id: sessionId } = attempt;
    if (userId === null) return await signIn({ row, exchanged, answer }, needs);
    return await link({ row, exchanged, answer, userId, sessionId: sessionId ?? '' }, needs);
  } catch (error) {
    if (error instanceof ApiProblem) await noteRefusal(error, answer, needs);
    throw error;
  }
}

/** Once, by the browser that began, for the workspace that it began with. */
async function take({ workspaceId, query, browser }: Answer, { store }: AccountNeeds): Promise<AttemptRow> {
  const state = new URLSearchParams(query).get('state') ?? '';
  if (!isBrowserCookie(browser) || state === '') throw new ApiProblem('sso_ended');
  const named = { workspaceId, stateHash: hashOfSecret(state), browserHash: hashOfSecret(browser) };
  const attempt = await store.asSystem((tx) => takeAttempt(tx, named));
  if (attempt === undefined) throw new ApiProblem('sso_ended');
  return attempt;
}

function exchange(attempt: AttemptRow, row: ConnectionRow, { query }: Answer, needs: AccountNeeds): Promise<Exchanged> {
  const { workspace_id: workspaceId, groups_claim } = row;
  const singleSignOn = mustBePossible(needs);
  const { redirectUri, signedOutUri } = addressesOf(singleSignOn, workspaceId);
  const wanted = ['email', ...(row.group_roles.length > 0 ? [groups_claim] : [])];
  const answered = { redirectUri, signedOutUri, query, secrets: openSecrets(attempt, needs), wanted };
  return singleSignOn.providers
    .exchange(workspaceId, openConnection(row, needs.keyRing), answered)
    .catch(answerTrouble);
}

type Answered = { row: ConnectionRow; exchanged: Exchanged; answer: Answer };

async function signIn({ row, exchanged, answer }: Answered, needs: AccountNeeds): Promise<Finished> {
  const { workspace_id: workspaceId, issuer } = row;
  const { address, userAgent } = answer;
  const at = needs.now();
  const placed = await needs.store.asSystem(async (tx) => {
    const { person, rules } = await judge(tx, row, exchanged);
    const hasGroups = rules.group_roles.length > 0;
    const result = await placePerson(tx, { workspaceId, issuer, person, hasGroups, address, at });
    if (!result.ok) return result;
    await noteSignIn(tx, workspaceId);
    const bound = { workspaceId, signOutUrl: exchanged.signOutUrl };
    return { ok: true as const, session: await startSession(tx, result.userId, { address, userAgent, bound }, at) };
  });
  if (!placed.ok) throw refusal(placed.why);
  return { kind: 'signed_in', session: placed.session };
}

type LinkAnswered = Answered & { userId: string; sessionId: string };

/** As every change of how a person signs in, it ends the other sessions, and the person is told. */
async function link(
  { row, exchanged, answer, userId, sessionId }: LinkAnswered,
  needs: AccountNeeds,
): Promise<Finished> {
  const { workspace_id: workspaceId, issuer } = row;
  const { store, now } = needs;
  const placed = await store.asSystem(async (tx) => {
    const { person } = await judge(tx, row, exchanged);
    const isHere = (await findMember(tx, { workspaceId, userId })) !== undefined;
    if (!isHere || !(await sessionStands(tx, sessionId))) throw new ApiProblem('sso_ended');
    const result = await linkPerson(tx, { workspaceId, issuer, subject: person.subject, userId });
    if (!result.ok) return result;
    await deleteOtherSessions(tx, { id: sessionId, userId });
    const actor = { kind: 'user', id: userId, sessionId, address: answer.address };
    const entry = { at: now(), actor, objectId: userId, details: { email: person.email } };
    await appendAudit(tx, workspaceId, { ...entry, action: 'single_sign_on.linked' });
    const user = found(await findUser(tx, userId));
    await tellAccount(tx, { to: user.email, kind: 'single_sign_on_linked' }, needs);
    return result;
  });
  if (!placed.ok) throw refusal(placed.why);
  return { kind: 'linked' };
}

/** By the connection as it is now. A code of a provider that was replaced meanwhile is worth nothing. */
async function judge(
  tx: Tx,
  asked: ConnectionRow,
  exchanged: Exchanged,
): Promise<{ person: Person; rules: ConnectionRow }> {
  const rules = await lockConnection(tx, asked.workspace_id);
  if (rules === undefined || isOtherClient({ issuer: asked.issuer, clientId: asked.client_id }, rules)) {
    throw new ApiProblem('sso_ended');
  }
  const domains = (await listDomains(tx, asked.workspace_id)).map(({ domain }) => domain);
  const { groups_claim: groupsClaim, group_roles: groupRoles, default_role: defaultRole } = rules;
  const read: ReadPerson = readPerson(exchanged, { groupsClaim, groupRoles, defaultRole, domains });
  if (!read.ok) throw refusal(read.why);
  return { person: read.person, rules };
}

function refusal(why: RefusalKind): ApiProblem {
  return new ApiProblem('sso_refused', [{ path: `/person/${why}`, message: REFUSAL_SENTENCES[why] }]);
}

async function noteRefusal({ code, errors }: ApiProblem, answer: Answer, needs: AccountNeeds): Promise<void> {
  const { workspaceId, address } = answer;
  const { store, tries, now, log } = needs;
  const why = errors?.[0]?.path.split('/').at(-1) ?? code;
  log.warn({ workspaceId, address, why }, 'single_sign_on.refused');
  if (!tries.take(`single-sign-on refused ${workspaceId}`, REFUSALS_PER_MINUTE)) return;
  const entry = { at: now(), actor: { kind: 'unknown', address }, objectId: workspaceId, details: { why } };
  await store.asSystem((tx) => appendAudit(tx, workspaceId, { ...entry, action: 'single_sign_on.refused' }));
}
