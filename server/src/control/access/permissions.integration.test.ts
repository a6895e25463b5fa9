// oxlint-disable max-lines -- one table
/** Every endpoint × every kind of caller. An endpoint without a row here fails. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { ACCOUNT_ROUTES, ROUTES } from '../all-routes.ts';
import {
  addMember,
  addToken,
  addWorkspace,
  startTestControl,
  type TestAnswer,
  type TestControl,
} from '../../../testing/control.ts';
import { attempted } from '../../../testing/outcomes.ts';
import { OWN_ACCOUNT_ROUTES, UNSIGNED } from '../../../testing/own-account.ts';
import type { DeliverySide } from '../../stream/open-delivery-side.ts';
import { permissionsOf } from '../http/route-rights.ts';
import { hashPassword } from './password.ts';
import { PERMISSION_NAMES, ROLE_NAMES } from './permissions.ts';
import { writeOutcomes } from '../../record/write-outcomes.ts';

const ASKERS = ['nobody', 'viewer-without-payloads', 'viewer', 'developer', 'admin', 'owner', 'stranger'] as const;
type Asker = (typeof ASKERS)[number];
type Row = readonly [
  nobody: number,
  withoutPayloads: number,
  viewer: number,
  developer: number,
  admin: number,
  owner: number,
  stranger: number,
];

// The stranger owns another workspace: lists and creates there, and finds nothing of this one.
const everybody = (status: number): Row => [401, status, status, status, status, status, status];
const builders = (status: number, stranger = 404): Row => [401, 403, 403, status, status, status, stranger];
const managers = (status: number, stranger = 404): Row => [401, 403, 403, 403, status, status, stranger];
const owners = (status: number, stranger = 404): Row => [401, 403, 403, 403, 403, status, stranger];
const operators = (status: number): Row => owners(status, 403);
const readers = (status: number): Row => [401, status, status, status, status, status, 404];
// The answer is nothing but payloads: the viewer without them gets none.
const payloads = (status: number, stranger = 404): Row => [401, 403, status, status, status, status, stranger];

const EXPECTED: Readonly<Record<string, Row>> = {
  'GET /api/v1/workspace': everybody(200),
  'PATCH /api/v1/workspace': owners(200, 200),
  // Of a person who has a second factor: a token has none.
  'PATCH /api/v1/workspace/second-factor': owners(403, 403),
  // Of a person: a token has no role to hand over.
  'POST /api/v1/workspace/transfer': owners(403, 403),
  // Of a person, with a password: a token ends nothing. Nothing is to be undone here.
  'POST /api/v1/workspace/deletion': owners(403, 403),
  'DELETE /api/v1/workspace/deletion': owners(404, 404),
  'POST /api/v1/installation/workspaces/:id/deletion': owners(403, 403),
  'DELETE /api/v1/installation/workspaces/:id/deletion': operators(404),
  'GET /api/v1/workspace/limits': everybody(200),
  'GET /api/v1/members': everybody(200),
  'PATCH /api/v1/members/:userId': managers(200),
  'DELETE /api/v1/members/:userId': managers(204),
  // Members of this test have no other workspace, and the installation sends no mail.
  'POST /api/v1/members/:userId/password-link': managers(201),
  'POST /api/v1/members/:userId/email-link': managers(201),
  'GET /api/v1/invitations': everybody(200),
  'POST /api/v1/invitations': managers(201, 201),
  'DELETE /api/v1/invitations/:id': managers(204),
  'GET /api/v1/tokens': managers(200, 200),
  'POST /api/v1/tokens': managers(201, 201),
  'DELETE /api/v1/tokens/:id': managers(204),
  // There is none, and this installation does not know its own address; endpoints/sso has tests with one.
  'GET /api/v1/single-sign-on': managers(200, 200),
  'POST /api/v1/single-sign-on': owners(409, 409),
  'PATCH /api/v1/single-sign-on': owners(404, 404),
  'DELETE /api/v1/single-sign-on': owners(404, 404),
  'POST /api/v1/single-sign-on/test': owners(409, 409),
  'POST /api/v1/single-sign-on/verify-domain': owners(409, 409),
  'GET /api/v1/audit-log': managers(200, 200),
  'GET /api/v1/audit-log/check': managers(200, 200),
  'GET /api/v1/audit-log/export': managers(200, 200),
  'GET /api/v1/audit-log/stream': managers(200, 200),
  'POST /api/v1/audit-log/stream': owners(201, 201),
  'DELETE /api/v1/audit-log/stream': owners(204, 204),
  'GET /api/v1/catalog': everybody(200),
  'GET /api/v1/sources': everybody(200),
  'POST /api/v1/sources': builders(201, 201),
  'GET /api/v1/sources/:id': readers(200),
  'PATCH /api/v1/sources/:id': builders(200),
  'DELETE /api/v1/sources/:id': builders(204),
  'POST /api/v1/sources/:id/write-keys': builders(201),
  'DELETE /api/v1/sources/:id/write-keys/:keyId': builders(204),
  'GET /api/v1/sources/:id/events': readers(200),
  'GET /api/v1/sources/:id/schema': readers(200),
  'GET /api/v1/sources/:id/feed': payloads(200),
  'GET /api/v1/sources/:id/refusals': readers(200),
  'POST /api/v1/sources/:id/events': builders(204),
  'GET /api/v1/destinations': everybody(200),
  'POST /api/v1/destinations': builders(201),
  'GET /api/v1/destinations/:id': readers(200),
  'PATCH /api/v1/destinations/:id': builders(200),
  'DELETE /api/v1/destinations/:id': builders(204),
  'POST /api/v1/destinations/:id/rotate-secret': builders(200),
  // No deliver process runs here; control itself answers for a URL that could not be saved.
  'POST /api/v1/destinations/check-url': builders(200, 200),
  'GET /api/v1/target-hosts': everybody(200),
  'POST /api/v1/target-hosts/check': builders(503, 503),
  // There is none; stories/host-proof.integration.test.ts forgets one.
  'DELETE /api/v1/target-hosts/:host/proof': builders(404, 404),
  'POST /api/v1/destinations/:id/test': builders(503),
  'POST /api/v1/destinations/:id/check-up': builders(201),
  // There was none yet; stories/check-up.integration.test.ts reads one.
  'GET /api/v1/destinations/:id/check-up': readers(404),
  'POST /api/v1/destinations/preview': payloads(200),
  // Nothing waits for an attempt: the destination is not enabled, and that of the delivery was deleted.
  'POST /api/v1/destinations/:id/probe': builders(409),
  'POST /api/v1/deliveries/:id/retry': builders(409),
  'GET /api/v1/destinations/:id/health': readers(200),
  'GET /api/v1/destinations/:id/metrics': readers(200),
  'GET /api/v1/destinations/:id/errors': readers(200),
  'GET /api/v1/definitions': everybody(200),
  'POST /api/v1/definitions': builders(201, 201),
  'GET /api/v1/definitions/:id': readers(200),
  'PATCH /api/v1/definitions/:id': builders(200),
  'DELETE /api/v1/definitions/:id': builders(202),
  // No compute process runs here, so it is never live.
  'POST /api/v1/definitions/:id/resync': builders(409),
  // Shows no ids to a token without profiles:read.
  'POST /api/v1/definitions/preview': payloads(200, 200),
  'GET /api/v1/definitions/:id/members': payloads(200),
  'GET /api/v1/definitions/:id/history': payloads(200),
  'GET /api/v1/definitions/:id/curve': readers(200),
  // No compute process runs here; stories/audience-api.integration.test.ts reads profiles.
  'GET /api/v1/profiles/:userId': payloads(404),
  'GET /api/v1/profiles/:userId/memberships/:definitionId/explain': payloads(404),
  'GET /api/v1/overview': everybody(200),
  'GET /api/v1/deliveries': everybody(200),
  'GET /api/v1/deliveries/:id': readers(200),
  // Its destination was deleted.
  'GET /api/v1/deliveries/:id/request': payloads(410),
  // Knows nothing of the event, and says so as it would of one that never was.
  'GET /api/v1/events/:messageId/explain': everybody(200),
  'GET /api/v1/stored-events': payloads(200),
  'GET /api/v1/metrics/deliveries': everybody(200),
  'GET /api/v1/usage': everybody(200),
  'GET /api/v1/dead-letters': everybody(200),
  'GET /api/v1/dead-letters/:id': readers(200),
  'POST /api/v1/dead-letters/:id/retry': builders(200),
  'POST /api/v1/dead-letters/redrive': builders(201),
  'GET /api/v1/redrives': everybody(200),
  'GET /api/v1/redrives/:id': readers(200),
  'POST /api/v1/redrives/:id/pause': builders(200),
  'POST /api/v1/redrives/:id/resume': builders(200),
  'POST /api/v1/redrives/:id/cancel': builders(200),
  'POST /api/v1/replays/preview': readers(200),
  'POST /api/v1/replays': builders(201),
  'GET /api/v1/replays': everybody(200),
  'GET /api/v1/replays/:id': readers(200),
  'POST /api/v1/replays/:id/pause': builders(200),
  'POST /api/v1/replays/:id/resume': builders(200),
  'POST /api/v1/replays/:id/cancel': builders(200),
  'POST /api/v1/deletion-requests': managers(201),
  'GET /api/v1/deletion-requests': managers(200, 200),
  'GET /api/v1/deletion-requests/:id': managers(200),
  'GET /api/v1/suppressions/calls': everybody(200),
  'POST /api/v1/suppressions/lift': managers(200),
  // For operators: the owner's token is one.
  'GET /api/v1/configuration/removals': operators(200),
  // Nothing waits to be removed here.
  'POST /api/v1/configuration/removals/confirm': operators(409),
  'GET /api/v1/operator/limits': operators(200),
  'GET /api/v1/operator/workspaces/:id/limits': operators(200),
  'PATCH /api/v1/operator/workspaces/:id/limits': operators(200),
  'GET /api/v1/operators': operators(200),
  'POST /api/v1/operators': operators(201),
  'DELETE /api/v1/operators/:id': operators(204),
  'GET /api/v1/installation/workspaces': operators(200),
  'GET /api/v1/installation/audit-log': operators(200),
  'GET /api/v1/system': operators(200),
  'GET /api/v1/quarantine': operators(200),
  'GET /api/v1/quarantine/:id': operators(200),
  'POST /api/v1/quarantine/:id/redrive': operators(204),
  'DELETE /api/v1/quarantine/:id': operators(204),
  // About oneself. Tokens have no sessions and no password.
  'POST /api/v1/bootstrap': [409, 409, 409, 409, 409, 409, 409],
  'POST /api/v1/session': [204, 204, 204, 204, 204, 204, 204],
  // The askers have given no password before.
  'POST /api/v1/session/second-factor': [401, 401, 401, 401, 401, 401, 401],
  // The installation does not name its console.
  'POST /api/v1/session/passkey/options': [409, 409, 409, 409, 409, 409, 409],
  'POST /api/v1/session/passkey': [409, 409, 409, 409, 409, 409, 409],
  // No workspace has a connection.
  'POST /api/v1/session/single-sign-on': [404, 404, 404, 404, 404, 404, 404],
  'POST /api/v1/session/single-sign-on/finish': [401, 401, 401, 401, 401, 401, 401],
  'POST /api/v1/me/single-sign-on': everybody(403),
  'DELETE /api/v1/me/single-sign-on/:workspaceId': everybody(403),
  // The same for everybody; the link decides, not the role of its bearer.
  'POST /api/v1/password-resets': [202, 202, 202, 202, 202, 202, 202],
  'POST /api/v1/password-resets/use': [204, 204, 204, 204, 204, 204, 204],
  ...Object.fromEntries(OWN_ACCOUNT_ROUTES.map((name) => [name, everybody(403)])),
  'GET /api/v1/me': everybody(200),
  // The link decides, not the role of its bearer.
  'POST /api/v1/invitations/accept': [201, 201, 201, 201, 201, 201, 201],
};

const PASSWORD = 'correct horse battery';
const SETTINGS = { targets: [{ url: 'https://example.com/hook' }], sharedSecret: 'a shared secret' };
let made = 0;

function replayOf({ sourceId, destinationId }: Pick<Things, 'sourceId' | 'destinationId'>) {
  return { sourceId, destinationId, from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
}

/** A key is never used again, so each has a name of its own. */
function newAudience() {
  return { kind: 'audience', name: `Audience ${(made += 1)}`, when: { event: 'Signed Up', atLeast: 1 } };
}

/** A valid body for the endpoint, so that only the caller's role decides. */
const BODIES: Readonly<Record<string, (things: Things) => object>> = {
  'PATCH /api/v1/workspace': () => ({ name: 'Renamed' }),
  'POST /api/v1/invitations': () => ({ email: `m${(made += 1)}@example.com`, role: 'viewer' }),
  'POST /api/v1/invitations/accept': ({ invitation }) => ({ token: invitation.token, name: 'M', password: PASSWORD }),
  'POST /api/v1/me/workspaces': ({ invitation }) => ({ token: invitation.token }),
  'PATCH /api/v1/members/:userId': () => ({ role: 'developer' }),
  'POST /api/v1/members/:userId/email-link': () => ({ email: `n${(made += 1)}@example.com` }),
  'POST /api/v1/workspace/transfer': ({ userId }) => ({ userId }),
  'POST /api/v1/workspaces': () => ({ name: 'W' }),
  'POST /api/v1/single-sign-on': () => ({ issuer: 'https://idp.example', clientId: 'c', clientSecret: 's' }),
  'PATCH /api/v1/single-sign-on': () => ({ required: false }),
  'POST /api/v1/single-sign-on/verify-domain': () => ({ domain: 'a.example' }),
  'POST /api/v1/session/single-sign-on': () => ({ workspaceId: 'ws_none' }),
  'POST /api/v1/session/single-sign-on/finish': () => ({ workspaceId: 'ws_none', query: 'state=a' }),
  'POST /api/v1/me/single-sign-on': () => ({ workspaceId: 'ws_none', password: PASSWORD }),
  'POST /api/v1/password-resets': () => ({ email: 'ann@example.com' }),
  'POST /api/v1/password-resets/use': ({ resetToken }) => ({ token: resetToken, password: PASSWORD }),
  'POST /api/v1/me/email': () => ({ email: `n${(made += 1)}@example.com`, password: PASSWORD }),
  'POST /api/v1/me/email/confirm': () => ({ token: 'none' }),
  'POST /api/v1/tokens': () => ({ name: 'T', role: 'viewer' }),
  'POST /api/v1/sources': () => ({ name: 'S' }),
  'PATCH /api/v1/sources/:id': () => ({ name: 'S2' }),
  'POST /api/v1/sources/:id/write-keys': () => ({ label: 'K' }),
  'POST /api/v1/sources/:id/events': () => ({ name: 'Signed Up', blocked: true }),
  'POST /api/v1/destinations': ({ sourceId }) => ({ sourceId, catalog: 'Webhooks', settings: SETTINGS }),
  'PATCH /api/v1/destinations/:id': () => ({ enabled: true }),
  'POST /api/v1/destinations/:id/rotate-secret': () => ({ overlapHours: 1 }),
  'POST /api/v1/destinations/check-url': () => ({ url: 'http://10.0.0.1/' }),
  'POST /api/v1/target-hosts/check': () => ({ url: 'https://example.com/' }),
  'POST /api/v1/destinations/:id/test': () => ({}),
  'POST /api/v1/destinations/:id/check-up': () => ({}),
  'POST /api/v1/destinations/preview': ({ sourceId }) => ({ sourceId }),
  'POST /api/v1/definitions': newAudience,
  'POST /api/v1/definitions/preview': () => ({ definition: newAudience() }),
  'PATCH /api/v1/definitions/:id': () => ({ name: 'Renamed' }),
  'POST /api/v1/definitions/:id/resync': () => ({}),
  'POST /api/v1/dead-letters/redrive': ({ destinationId }) => ({ destinationId }),
  'POST /api/v1/replays/preview': replayOf,
  'POST /api/v1/replays': replayOf,
  'POST /api/v1/deletion-requests': ({ sourceId }) => ({ userIds: ['u1'], sources: [sourceId] }),
  'POST /api/v1/suppressions/lift': () => ({ userId: 'u-suppressed' }),
  'POST /api/v1/audit-log/stream': () => ({ url: 'https://example.com/audit' }),
  'POST /api/v1/workspace/deletion': () => ({ name: 'Test', password: PASSWORD }),
  'POST /api/v1/installation/workspaces/:id/deletion': () => ({ name: 'Test', password: PASSWORD }),
  'POST /api/v1/operators': ({ userId }) => ({ id: userId }),
  'POST /api/v1/configuration/removals/confirm': () => ({ entries: 21 }),
  'PATCH /api/v1/operator/workspaces/:id/limits': () => ({ limits: { tails: 60 } }),
  'POST /api/v1/bootstrap': () => ({ workspace: 'W', email: 'b@example.com', name: 'B', password: PASSWORD }),
  'POST /api/v1/session': () => ({ email: 'ann@example.com', password: PASSWORD }),
  'POST /api/v1/session/second-factor': () => ({ code: '000000' }),
  'POST /api/v1/session/passkey': () => ({ passkey: UNSIGNED }),
  'PATCH /api/v1/workspace/second-factor': () => ({ isNeeded: true }),
  'POST /api/v1/me/password': () => ({ currentPassword: PASSWORD, newPassword: PASSWORD }),
};

const QUERIES: Readonly<Record<string, (things: Things) => string>> = {
  'GET /api/v1/stored-events': ({ sourceId }) => `?sourceId=${sourceId}`,
  'DELETE /api/v1/definitions/:id': () => '?members=leave',
};

let control: TestControl;
let deadLetters: DeliverySide['deadLetters'];
let quarantine: DeliverySide['quarantine'];
const opened = new AsyncDisposableStack();
let workspaceId: string;
const tokens = new Map<Asker, string>();

before(async () => {
  // Hundreds of questions make things of their own.
  control = opened.use(await startTestControl({ limits: { sources: 100_000, destinations: 100_000 } }));
  ({ deadLetters, quarantine } = opened.use(await control.stream.deliverySide()));
  workspaceId = await addWorkspace(control.store);
  for (const role of ROLE_NAMES) tokens.set(role, await addToken(control.store, workspaceId, { role }));
  tokens.set('stranger', await addToken(control.store, await addWorkspace(control.store), { role: 'owner' }));
  const passwordHash = await hashPassword(PASSWORD);
  const ann = await addMember(control.store, workspaceId, { email: 'ann@example.com', passwordHash, role: 'owner' });
  await control.ask('POST', '/api/v1/operators', { token: tokens.get('owner') ?? '', body: { id: ann } });
  const entry = { ...attempted(1, 'retry', 503), workspaceId };
  const recording = { sample: 1, rows: 1, recordsFrom: '2000-01-01', knownPartitions: new Set<string>() };
  await control.store.asSystem((tx) => writeOutcomes(tx, [entry], recording));
});
after(() => opened.disposeAsync());

type Things = {
  sourceId: string;
  keyId: string;
  destinationId: string;
  userId: string;
  tokenId: string;
  invitation: { id: string; token: string };
  resetToken: string;
  letterId: string;
  redriveId: string;
  replayId: string;
  deletionId: string;
  quarantineId: string;
  definitionId: string;
  operatorId: string;
};

// Things take time, so they are made only for the endpoints that need them.
const OF_A_SOURCE = /sources|destinations|replays|redrive|letters|stored-events|deletion-requests/;
const OF_A_DESTINATION = /destinations|replays|redrive|letters/;
const OF_A_MEMBER = /:userId|operators|transfer|password-resets/;

/** Makes what the questions to one endpoint are about. */
async function makeThings(url: string): Promise<Things> {
  const post = async (path: string, body: object) => {
    const answer = await control.ask('POST', path, { token: tokens.get('owner') ?? '', body });
    assert.equal(answer.status, 201, answer.text);
    return answer.body as { id: string; token: string; writeKeys?: { id: string }[] };
  };
  const none = { id: '', token: '', writeKeys: [] };
  const source = OF_A_SOURCE.test(url) ? await post('/api/v1/sources', { name: 'S' }) : none;
  const sourceId = source.id;
  const ofDestination = { sourceId, catalog: 'Webhooks', settings: SETTINGS };
  const destination = OF_A_DESTINATION.test(url) ? await post('/api/v1/destinations', ofDestination) : none;
  const invitee = { email: `i${(made += 1)}@example.com`, role: 'viewer' };
  const invitation = /invitations|workspaces/.test(url) ? await post('/api/v1/invitations', invitee) : none;
  const person = { email: `p${(made += 1)}@example.com`, passwordHash: null, role: 'viewer' as const };
  const userId = OF_A_MEMBER.test(url) ? await addMember(control.store, workspaceId, person) : '';
  const keyId = source.writeKeys?.[0]?.id ?? '';
  const destinationId = destination.id;
  // No role runs jobs here: they stay as they are.
  const makeIf = async (part: string, make: () => Promise<string>) => (url.includes(part) ? make() : '');
  const job = async (path: string, body: object) => (await post(path, body)).id;
  const tokenId = await makeIf('tokens/:id', () => job('/api/v1/tokens', { name: 'T', role: 'viewer' }));
  const letterId = await makeIf('letters/:id', () => addLetter(destinationId));
  const redriveId = await makeIf('redrives/:id', () => job('/api/v1/dead-letters/redrive', { destinationId }));
  const replayId = await makeIf('replays/:id', () => job('/api/v1/replays', replayOf({ sourceId, destinationId })));
  const deletionId = await makeIf('requests/:id', () => job('/api/v1/deletion-requests', { userIds: ['u1'] }));
  const quarantineId = await makeIf('quarantine/:id', addToQuarantine);
  const resetToken = await makeIf(
    'password-resets/use',
    async () => (await post(`/api/v1/members/${userId}/password-link`, {})).token,
  );
  await makeIf('audit-log/stream', () => job('/api/v1/audit-log/stream', { url: 'https://example.com/audit' }));
  const operatorId = await makeIf('operators/:id', () => job('/api/v1/operators', { id: userId }));
  const definitionId = await makeIf('definitions/:id', () => job('/api/v1/definitions', newAudience()));
  await makeIf('suppressions/lift', () =>
    job('/api/v1/deletion-requests', { userIds: ['u-suppressed'], suppress: true }),
  );
  const ids = {
    destinationId,
    tokenId,
    letterId,
    redriveId,
    replayId,
    deletionId,
    quarantineId,
    definitionId,
    operatorId,
    resetToken,
  };
  return { sourceId, keyId, userId, invitation, ...ids };
}

async function addToQuarantine(): Promise<string> {
  const from = { stream: 'DEAD', subject: 'dead.dst_none', sequence: (made += 1) };
  await quarantine.append({ kind: 'letter', payload: Buffer.from('?'), from, why: 'not JSON' });
  const all = await control.needs.side.quarantine.read('*', 1, 1_000);
  return `q_${all.at(-1)?.sequence}`;
}

async function addLetter(destinationId: string): Promise<string> {
  const event = {
    messageId: 'm1',
    type: 'track',
    userId: 'u1',
    event: 'E',
    context: {},
    receivedAt: '2026-01-01T00:00:00Z',
  };
  const delivery = { id: 'dlv_1', event, takenAt: 1, attempts: 1, dueAt: 1, history: [] };
  const text = JSON.stringify({ reason: 'discarded', at: 1, destinationId, delivery });
  await deadLetters.append(destinationId, `${(made += 1)}`, text);
  return `dl_${await control.needs.side.deadLetters.last()}`;
}

function pathOf(url: string, things: Things): string {
  const ids: Record<string, string> = {
    sources: things.sourceId,
    destinations: things.destinationId,
    tokens: things.tokenId,
    invitations: things.invitation.id,
    sessions: 'ses_none',
    deliveries: 'dlv_1',
    letters: things.letterId,
    redrives: things.redriveId,
    replays: things.replayId,
    requests: things.deletionId,
    quarantine: things.quarantineId,
    definitions: things.definitionId,
    workspaces: workspaceId,
    operators: things.operatorId,
  };
  return url
    .replace(':keyId', things.keyId)
    .replace(':userId', things.userId)
    .replace(':messageId', 'm-1')
    .replace(/(\w+)\/:id/, (_, kind: string) => `${kind}/${ids[kind] ?? 'unknown'}`);
}

type AnyRoute = { method: string; url: string; answer?: TSchema };
const nameOf = ({ method, url }: AnyRoute) => `${method} ${url}`;

type Asking = { token?: string | undefined; headers?: Record<string, string> };

/** Asks about the same things until an answer may have changed them: a refusal changes nothing. */
function openQuestions(route: AnyRoute): (asking: Asking) => Promise<TestAnswer> {
  let things: Things | undefined;
  return async ({ token, headers = {} }) => {
    things ??= await makeThings(route.url);
    const body = BODIES[nameOf(route)]?.(things);
    const query = QUERIES[nameOf(route)]?.(things) ?? '';
    const answer = await control.ask(route.method, pathOf(route.url, things) + query, {
      headers,
      ...(token === undefined ? {} : { token }),
      ...(body === undefined ? {} : { body }),
    });
    if (route.method !== 'GET' && answer.status < 400) things = undefined;
    return answer;
  };
}

suite('who may do what', () => {
  test('every endpoint has a row, and every row an endpoint', () => {
    const names = [...ROUTES, ...ACCOUNT_ROUTES].map(nameOf);
    assert.deepEqual(names.toSorted(), Object.keys(EXPECTED).toSorted());
  });

  for (const route of [...ROUTES, ...ACCOUNT_ROUTES]) {
    test(`${nameOf(route)} answers everybody as the table says, and as its schema says`, async () => {
      const ask = openQuestions(route);
      for (const [index, asker] of ASKERS.entries()) {
        const answer = await ask({ token: tokens.get(asker) });
        assert.equal(answer.status, EXPECTED[nameOf(route)]?.[index], `${asker}: ${answer.text}`);
        if (answer.status < 300 && route.answer !== undefined) {
          assert.deepEqual([...Value.Errors(route.answer, answer.body)], [], answer.text);
        }
      }
    });
  }
});

suite('the second fences', () => {
  for (const route of ROUTES) {
    test(`${nameOf(route)} needs its own permissions of a narrowed token, and does not open for a stranger who names the workspace`, async () => {
      const ask = openQuestions(route);
      for (const needed of permissionsOf(route)) {
        const scopes = PERMISSION_NAMES.filter((name) => name !== needed);
        const narrowed = await addToken(control.store, workspaceId, { role: 'owner', scopes });
        assert.equal((await ask({ token: narrowed })).status, 403, needed);
      }
      const headers = { 'Millrace-Workspace': workspaceId };
      assert.equal((await ask({ token: tokens.get('stranger'), headers })).status, 404);
    });
  }

  test('a preview of a destination shows events of a source, and needs the permission to read sources too', async () => {
    const preview = ROUTES.find(({ url }) => url === '/api/v1/destinations/preview');
    assert.ok(preview !== undefined);
    const statusFor = async (scopes: string[]) => {
      const token = await addToken(control.store, workspaceId, { role: 'owner', scopes });
      return (await openQuestions(preview)({ token })).status;
    };
    assert.equal(await statusFor(PERMISSION_NAMES.filter((name) => name !== 'sources:read')), 403);
    assert.equal(await statusFor(['destinations:read', 'sources:read', 'payloads:read']), 200);
  });
});
