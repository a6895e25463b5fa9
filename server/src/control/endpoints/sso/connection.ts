/** The connection of a workspace to its OpenID provider. Owners alone change it: it gives roles. */
import {
  ConnectionChange,
  ConnectionCheck,
  NewConnection,
  SingleSignOn,
  VerifyDomain,
} from '@millrace/contract/control';
import { appendAudit } from '../../../store/audit-log.ts';
import { countOtherOwners, listMembers, setBreakGlass } from '../../../store/members.ts';
import { newId } from '../../../store/new-id.ts';
import type { Tx } from '../../../store/open-store.ts';
import { deleteBoundSessions } from '../../../store/sessions.ts';
import { deleteAttemptsOf } from '../../../store/sso-attempts.ts';
import {
  type ConnectionRow,
  deleteConnection,
  type DomainRow,
  findConnection,
  findHolder,
  insertConnection,
  listDomains,
  lockConnection,
  setDomains,
  updateConnection,
  verifyDomain,
} from '../../../store/sso-connections.ts';
import { type Actor, auditActor } from '../../access/actor.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { engineRoute, type Route, route } from '../../http/route.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { addressesOf } from '../../sso/single-sign-on.ts';
import { recordOf } from '../../sso/verify-domain.ts';
import { changedConnection, isOtherClient, keepBreakGlass, newConnection } from './change-connection.ts';
import { mustBePossible, openConnection } from './open-connection.ts';
import { settleOperators } from './settle-operators.ts';

const WRITE = { permission: 'single-sign-on:write' } as const;
/** Of a workspace: enough for people, and too few to look for open ports. */
const CHECKS_PER_MINUTE = 20;

export const connectionRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/single-sign-on',
    summary: 'The connection of the workspace to its OpenID provider, and the addresses that the provider has to know',
    permission: 'single-sign-on:read',
    answer: SingleSignOn,
    status: 200,
    handle: ({ tx, actor }, needs) => readAll(tx, actor, needs),
  }),
  route({
    method: 'POST',
    url: '/api/v1/single-sign-on',
    summary: 'Connects the workspace to an OpenID provider',
    body: NewConnection,
    answer: SingleSignOn,
    status: 201,
    ...WRITE,
    async prepare({ actor }, needs) {
      mustBePossible(needs);
      mustBeWhole(actor);
      await settleOperators(actor, needs);
    },
    async handle({ tx, actor, body, audit }, needs) {
      const { workspaceId } = actor;
      const saved = newConnection(body, { workspaceId, id: newId('sso') }, needs);
      if (!(await insertConnection(tx, saved))) throw new ApiProblem('conflict');
      await setDomains(tx, workspaceId, body.domains ?? []);
      await audit('single_sign_on.created', saved.id, { details: shownIn(body) });
      return readAll(tx, actor, needs);
    },
  }),
  route({
    method: 'PATCH',
    url: '/api/v1/single-sign-on',
    summary: 'Changes the connection; another issuer or client ends the sessions that it began',
    body: ConnectionChange,
    answer: SingleSignOn,
    status: 200,
    ...WRITE,
    async handle({ tx, actor, body, audit }, needs) {
      mustBeWhole(actor);
      const { workspaceId } = actor;
      const row = found(await lockConnection(tx, workspaceId));
      const saved = changedConnection(body, row, needs);
      await updateConnection(tx, saved);
      if (body.domains !== undefined) await setDomains(tx, workspaceId, body.domains);
      // After the change, and under a lock: an owner who leaves at the same moment waits for it.
      await countOtherOwners(tx, { workspaceId, userId: '' });
      await keepBreakGlass(tx, saved, body.breakGlassOwners);
      if (isOtherClient(saved, row)) {
        await deleteAttemptsOf(tx, workspaceId);
        await deleteBoundSessions(tx, workspaceId);
      }
      await audit('single_sign_on.changed', row.id, { details: shownIn(body) });
      return readAll(tx, actor, needs);
    },
  }),
  route({
    method: 'DELETE',
    url: '/api/v1/single-sign-on',
    summary: 'Deletes the connection and ends the sessions that it began; its people stay members, without a way in',
    status: 204,
    ...WRITE,
    async handle({ tx, actor, audit }) {
      mustBeWhole(actor);
      const { workspaceId } = actor;
      const row = found(await lockConnection(tx, workspaceId));
      const owners = (await listMembers(tx, workspaceId)).filter(({ role }) => role === 'owner');
      // The accounts that the connection made have no other way in.
      if (owners.length > 0 && owners.every(({ is_managed }) => is_managed)) throw new ApiProblem('last_owner');
      await deleteConnection(tx, workspaceId);
      await setBreakGlass(tx, workspaceId, []);
      await deleteBoundSessions(tx, workspaceId);
      await audit('single_sign_on.deleted', row.id, { details: { issuer: row.issuer } });
    },
  }),
  engineRoute({
    method: 'POST',
    url: '/api/v1/single-sign-on/test',
    summary: 'Whether the connection would work, step by step; asks the provider and starts no session',
    answer: ConnectionCheck,
    status: 200,
    ...WRITE,
    async ask({ actor: { workspaceId }, inWorkspace }, needs) {
      const { providers, consoleUrl } = mustBePossible(needs);
      mustTakeTurn(needs, workspaceId);
      // Before anything is asked: no test is without an entry.
      const row = await inWorkspace(async (tx, audit) => {
        const saved = found(await findConnection(tx, workspaceId));
        await audit('single_sign_on.tested', saved.id, { details: { issuer: saved.issuer } });
        return saved;
      });
      const { redirectUri } = addressesOf({ consoleUrl }, workspaceId);
      const steps = await providers.check(workspaceId, openConnection(row, needs.keyRing), redirectUri);
      return { ok: steps.every(({ ok }) => ok), steps };
    },
  }),
  engineRoute({
    method: 'POST',
    url: '/api/v1/single-sign-on/verify-domain',
    summary: 'Looks for the TXT record of a domain; from then on its addresses lead to the provider',
    body: VerifyDomain,
    answer: SingleSignOn,
    status: 200,
    ...WRITE,
    async ask({ actor, body: { domain }, inWorkspace }, needs) {
      const { readTxt } = mustBePossible(needs);
      mustBeWhole(actor);
      const { workspaceId } = actor;
      mustTakeTurn(needs, workspaceId);
      const listed = await inWorkspace((tx) => listDomains(tx, workspaceId));
      found(listed.find((each) => each.domain === domain));
      const { name } = recordOf(domain, workspaceId);
      await takeDomain({ actor, domain, values: await readTxt(name) }, needs);
      return inWorkspace((tx) => readAll(tx, actor, needs));
    },
  }),
];

/** A token that is narrowed to some permissions gives no roles. */
function mustBeWhole({ scopes }: Actor): void {
  if (scopes !== undefined) throw new ApiProblem('not_allowed');
}

function mustTakeTurn({ tries }: ControlNeeds, workspaceId: string): void {
  if (tries?.take(`single-sign-on ${workspaceId}`, CHECKS_PER_MINUTE) === false) throw new ApiProblem('too_many_tries');
}

type Taking = { actor: Actor; domain: string; values: readonly string[] };

/** A domain leads to one workspace. It changes hands when its record names the new one and no longer the old one. */
async function takeDomain({ actor, domain, values }: Taking, { store, now }: ControlNeeds): Promise<void> {
  const { workspaceId } = actor;
  const { name, value } = recordOf(domain, workspaceId);
  if (!values.includes(value)) throw unproven(`has no TXT record ${name} with the value ${value}`);
  await store.asSystem(async (tx) => {
    found(await lockConnection(tx, workspaceId));
    const holder = await findHolder(tx, domain);
    if (holder !== undefined && holder !== workspaceId && values.includes(recordOf(domain, holder).value)) {
      throw unproven(`leads to another workspace: remove the value of that one from ${name} first`);
    }
    await verifyDomain(tx, workspaceId, domain);
    const entry = { at: now(), actor: auditActor(actor), objectId: domain, details: {} };
    await appendAudit(tx, workspaceId, { ...entry, action: 'single_sign_on.domain_verified' });
  });
}

function unproven(message: string): ApiProblem {
  return new ApiProblem('invalid_request', [{ path: '/domain', message }]);
}

/** For the audit log: without the secret. */
function shownIn({ clientSecret, ...rest }: ConnectionChange): Record<string, unknown> {
  return { ...rest, ...(clientSecret === undefined ? {} : { clientSecret: 'changed' }) };
}

async function readAll(tx: Tx, { workspaceId }: Actor, { singleSignOn }: ControlNeeds): Promise<SingleSignOn> {
  const row = await findConnection(tx, workspaceId);
  const domains = row === undefined ? [] : await listDomains(tx, workspaceId);
  const members = await listMembers(tx, workspaceId);
  const breakGlass = members.filter(({ break_glass }) => break_glass).map(({ user_id }) => user_id);
  return {
    addresses: singleSignOn === undefined ? null : addressesOf(singleSignOn, workspaceId),
    connection: row === undefined ? null : toConnection(row, domains, breakGlass),
  };
}

function toConnection(row: ConnectionRow, domains: readonly DomainRow[], breakGlassOwners: string[]) {
  return {
    id: row.id,
    issuer: row.issuer,
    clientId: row.client_id,
    groupsClaim: row.groups_claim,
    groupRoles: row.group_roles as SharedRoles,
    defaultRole: row.default_role as SharedRoles[number]['role'] | null,
    domains: domains.map(({ domain, verified_at }) => ({
      domain,
      verifiedAt: verified_at?.toISOString() ?? null,
      record: recordOf(domain, row.workspace_id),
    })),
    required: row.required,
    breakGlassOwners,
    lastSignInAt: row.last_sign_in_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

type SharedRoles = NonNullable<NewConnection['groupRoles']>;
