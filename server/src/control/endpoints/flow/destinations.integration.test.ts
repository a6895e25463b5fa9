import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { randomBytes } from 'node:crypto';
import { CATALOG, type Destination, type Source } from '@millrace/contract/control';
import { startMigratedPostgres } from '../../../../testing/migrated-postgres.ts';
import { openLog } from '../../../log.ts';
import { listAudit } from '../../../store/audit-log.ts';
import { findDestination } from '../../../store/destinations.ts';
import { openStore } from '../../../store/open-store.ts';
import { takeFromOutbox } from '../../../store/outbox.ts';
import { destinationsToProject } from '../../../store/projection.ts';
import { insertWorkspace } from '../../../store/workspaces.ts';
import { destinationEntry } from '../../../projection/config-entries.ts';
import { QUIET_NEEDS } from '../../../../testing/control.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { destinationRoutes, MAX_DESTINATIONS_OF_SOURCE } from './destinations.ts';
import { ApiProblem } from '../../problems/problems.ts';
import { openAudit } from '../../http/audit-change.ts';
import type { ApiRequest, Method, Route } from '../../http/route.ts';
import { openKeyRing } from '../../../secrets/seal.ts';
import { openSettings } from '../../../secrets/sealed-settings.ts';
import { sourceRoutes } from './sources.ts';
import type { DestinationConfig } from '../../../domain/configuration.ts';

const opened = new AsyncDisposableStack();
const URL_1 = 'https://one.example/hook';
let needs: ControlNeeds;

before(async () => {
  const server = opened.use(await startMigratedPostgres());
  const store = opened.use(await openStore(server.serviceUrl));
  await store.asSystem(async (tx) => {
    for (const id of ['ws_1', 'ws_2']) await insertWorkspace(tx, { id, name: id });
  });
  const keyRing = openKeyRing(new Map([[1, randomBytes(32)]]));
  const log = openLog({ level: 'silent', pretty: false });
  const now = () => new Date('2030-01-01T00:00:00Z');
  needs = {
    ...QUIET_NEEDS,
    store,
    keyRing,
    now,
    log,
  };
});
after(() => opened.disposeAsync());

suite('destinations', () => {
  test('are created disabled with what is secret hidden, listed by source, changed and deleted', async () => {
    const source = await createSource();
    const other = await createSource();
    const headers = { Authorization: 'Bearer abc' };
    const settings = {
      targets: [{ url: URL_1, headers }, { url: 'https://two.example/' }],
      sharedSecret: 'long enough',
    };
    const created = await create({ sourceId: source.id, settings });
    assert.deepEqual(
      { name: created.name, enabled: created.enabled, settings: created.settings },
      {
        name: 'Webhooks',
        enabled: false,
        settings: {
          targets: [{ url: URL_1, headers: { Authorization: { set: true } } }, { url: 'https://two.example/' }],
          sharedSecret: { set: true },
        },
      },
    );
    await create({ sourceId: other.id, enabled: true, name: 'Second' });
    const list = await call<{ items: Destination[] }>('GET', '/destinations', { query: { sourceId: source.id } });
    assert.deepEqual(list.items, [created]);

    const url = `/destinations/${created.id}`;
    const changed = await call<Destination>('PATCH', url, {
      body: { enabled: true, settings: { ...created.settings, successPolicy: 'all' } },
    });
    assert.equal(changed.enabled, true);
    assert.deepEqual(await opens(created.id), { ...settings, successPolicy: 'all' });
    await call('PATCH', url, { body: { settings: { sharedSecret: null, maxPerSecond: 5 } } });
    const { sharedSecret: _, ...rest } = settings;
    assert.deepEqual(await opens(created.id), { ...rest, successPolicy: 'all', maxPerSecond: 5 });
    await call('DELETE', url);
    await assert.rejects(call('GET', url), isProblem('not_found'));
  });

  test('of another workspace look like destinations that never were', async () => {
    const source = await createSource();
    const { id } = await create({ sourceId: source.id });
    const url = `/destinations/${id}`;
    const elsewhere = { workspaceId: 'ws_2' };
    for (const method of ['GET', 'DELETE'] as const) {
      await assert.rejects(call(method, url, elsewhere), isProblem('not_found'));
    }
    await assert.rejects(call('PATCH', url, { ...elsewhere, body: { enabled: true } }), isProblem('not_found'));
    await assert.rejects(call('POST', `${url}/rotate-secret`, { ...elsewhere, body: {} }), isProblem('not_found'));
    await assert.rejects(create({ sourceId: source.id }, elsewhere), isProblem('not_found'));
    const query = { sourceId: source.id };
    await assert.rejects(call('GET', '/destinations', { ...elsewhere, query }), isProblem('not_found'));
  });

  test('are at most fifty for a source, also when several are created at the same time', async () => {
    const source = await createSource();
    for (let nth = 0; nth < MAX_DESTINATIONS_OF_SOURCE - 1; nth += 1) await create({ sourceId: source.id });
    const both = await Promise.allSettled([create({ sourceId: source.id }), create({ sourceId: source.id })]);
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    await assert.rejects(create({ sourceId: source.id }), isProblem('too_many_destinations'));
    const other = await createSource();
    const { id } = await create({ sourceId: other.id });
    await call('DELETE', `/destinations/${id}`);
    await create({ sourceId: other.id });
  });

  test('say where their settings are wrong', async () => {
    const source = await createSource();
    const settings = { targets: [{ url: 'http://127.1/' }] };
    await assert.rejects(create({ sourceId: source.id, settings }), (error) => {
      assert.ok(error instanceof ApiProblem);
      assert.deepEqual(error.errors?.map(({ path }) => path), ['/settings/targets/0/url']); // biome-ignore format: short
      return true;
    });
    await assert.rejects(create({ sourceId: source.id, catalog: 'webhooks' }), isProblem('invalid_request'));
  });

  test('rotate their secret: made when none is given, the one before kept for the overlap', async () => {
    const source = await createSource();
    const targets = [{ url: URL_1 }];
    const { id } = await create({ sourceId: source.id, settings: { targets, sharedSecret: 'the first one' } });
    const url = `/destinations/${id}/rotate-secret`;
    const first = await call<Record<string, string>>('POST', url, { body: { overlapHours: 2 } });
    assert.equal(first['previousValidUntil'], '2030-01-01T02:00:00.000Z');
    assert.match(first['sharedSecret'] ?? '', /^whsec_/);
    assert.equal((await opens(id))['sharedSecret'], first['sharedSecret']);
    assert.equal((await previousOf(id))?.value, 'the first one');

    const second = await call<Record<string, string>>('POST', url, {
      body: { sharedSecret: 'mine own', overlapHours: 0 },
    });
    assert.deepEqual(second, { previousValidUntil: null });
    assert.equal((await opens(id))['sharedSecret'], 'mine own');
    assert.equal(await previousOf(id), undefined);
  });

  test('are paused and resumed, which the bucket is told, and other changes leave a pause as it is', async () => {
    const source = await createSource();
    const { id, paused } = await create({ sourceId: source.id, enabled: true });
    assert.equal(paused, false);
    assert.deepEqual(await pauseInBucket(id), { paused: undefined, resumedAt: undefined });
    const change = (body: object, at: string) =>
      call<Destination>('PATCH', `/destinations/${id}`, { body, now: new Date(at) });

    assert.equal((await change({ paused: true }, '2030-01-01T10:00:00Z')).paused, true);
    const changed = await change({ name: 'Other', paused: true }, '2030-01-01T11:00:00Z');
    assert.deepEqual([changed.name, changed.paused, changed.enabled], ['Other', true, true]);
    await call('POST', `/destinations/${id}/rotate-secret`, { body: {} });
    const row = await needs.store.asSystem((tx) => findDestination(tx, 'ws_1', id));
    assert.equal(row?.paused_at?.toISOString(), '2030-01-01T10:00:00.000Z');
    assert.deepEqual(await pauseInBucket(id), { paused: true, resumedAt: undefined });

    assert.equal((await change({ paused: false }, '2030-01-01T12:00:00Z')).paused, false);
    const resumedAt = '2030-01-01T12:00:00.000Z';
    assert.deepEqual(await pauseInBucket(id), { paused: undefined, resumedAt });
    await change({ paused: false }, '2030-01-01T13:00:00Z');
    assert.deepEqual(await pauseInBucket(id), { paused: undefined, resumedAt });
    await change({ paused: true }, '2030-01-01T14:00:00Z');
    assert.deepEqual(await pauseInBucket(id), { paused: true, resumedAt });

    const [last] = await needs.store.asSystem((tx) => listAudit(tx, 'ws_1', { limit: 1, after: undefined }));
    assert.deepEqual([last?.action, last?.details], ['destination.changed', { paused: true }]);
    const outbox = await needs.store.asSystem((tx) => takeFromOutbox(tx, 10_000));
    assert.equal(outbox.at(-1)?.object_id, id);
  });

  test('leave no secret in the audit log, and a deleted source tells the bucket of each of them', async () => {
    const source = await createSource();
    const settings = { targets: [{ url: URL_1, headers: { 'X-Key': 'hide-me' } }], sharedSecret: 'hide-me-too' };
    const { id } = await create({ sourceId: source.id, settings });
    await call('PATCH', `/destinations/${id}`, { body: { settings } });
    await call('POST', `/destinations/${id}/rotate-secret`, { body: { sharedSecret: 'hide-me-three' } });
    const audit = await needs.store.asSystem((tx) => listAudit(tx, 'ws_1', { limit: 3, after: undefined }));
    assert.deepEqual(
      audit.map((row) => row.action),
      ['destination.secret_rotated', 'destination.changed', 'destination.created'],
    );
    assert.doesNotMatch(JSON.stringify(audit), /hide-me/);
    await call('DELETE', `/sources/${source.id}`);
    const outbox = await needs.store.asSystem((tx) => takeFromOutbox(tx, 10_000));
    assert.deepEqual(outbox.slice(-2).map((row) => [row.kind, row.object_id]), [['destination', id], ['source', source.id]]); // biome-ignore format: short
  });
});

suite('the events of a source', () => {
  test('can be blocked until there are a thousand', async () => {
    const { id } = await createSource();
    const sql = `INSERT INTO source_events (workspace_id, source_id, name, blocked)
      SELECT 'ws_1', $1, 'e' || n, true FROM generate_series(1, 999) AS n`;
    await needs.store.asSystem((tx) => tx.query(sql, [id]));
    const block = (name: string, blocked: boolean) =>
      call('POST', `/sources/${id}/events`, { body: { name, blocked } });
    await block('last', true);
    await assert.rejects(block('too many', true), isProblem('invalid_request'));
    await block('e1', false);
    await block('one more', true);
  });
});

type Options = { body?: unknown; query?: unknown; workspaceId?: string; now?: Date };

/** Does as the server with a route: finds it and gives it a transaction. */
async function call<Answer>(method: Method, path: string, options: Options = {}): Promise<Answer> {
  const { body, query = {}, workspaceId = 'ws_1', now = needs.now() } = options;
  const { route, params } = findRoute(method, `/api/v1${path}`);
  const actor = { kind: 'token', id: 'tok_1', workspaceId, role: 'owner', address: '::1' } as const;
  return needs.store.inWorkspace(workspaceId, async (tx) => {
    const audit = openAudit(tx, actor, { ...needs, now: () => now });
    const request: ApiRequest = { actor, params, body, query, tx, audit };
    return (await route.handle?.(request as ApiRequest<never, never, never>, { ...needs, now: () => now })) as Answer;
  });
}

function findRoute(method: Method, path: string): { route: Route; params: Record<string, string> } {
  for (const route of [...sourceRoutes, ...destinationRoutes]) {
    const match = new RegExp(`^${route.url.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`).exec(path);
    if (route.method === method && match !== null) return { route, params: { ...match.groups } };
  }
  throw new Error(`no route ${method} ${path}`);
}

function createSource(): Promise<Source> {
  return call<Source>('POST', '/sources', { body: { name: 'A source' } });
}

function create(body: Record<string, unknown>, options: Options = {}): Promise<Destination> {
  const settings = { targets: [{ url: URL_1 }] };
  return call<Destination>('POST', '/destinations', { ...options, body: { catalog: 'Webhooks', settings, ...body } });
}

async function openedSettings(id: string) {
  const row = await needs.store.asSystem((tx) => findDestination(tx, 'ws_1', id));
  const [entry] = CATALOG;
  if (row === undefined || entry === undefined) throw new Error('no row');
  const owner = { workspaceId: 'ws_1', destinationId: id };
  return openSettings(entry, row.settings, { owner, keyRing: needs.keyRing });
}

/** The pause as deliver will read it. */
async function pauseInBucket(id: string) {
  const [row] = await needs.store.asSystem((tx) => destinationsToProject(tx, [id]));
  if (row === undefined) throw new Error('no row');
  const { paused, resumedAt } = JSON.parse(destinationEntry(row).value) as DestinationConfig;
  return { paused, resumedAt };
}

const opens = async (id: string) => (await openedSettings(id)).value;
const previousOf = async (id: string) => (await openedSettings(id)).previous.get('/sharedSecret');

function isProblem(code: string): (error: unknown) => boolean {
  return (error) => error instanceof ApiProblem && error.code === code;
}
