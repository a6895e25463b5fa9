import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import type { Attention, Overview } from '@millrace/contract/control';
import type { LaneHealth } from '../../../domain/lane-health.ts';
import { writeOutcomes } from '../../../record/write-outcomes.ts';
import { addToken, addWorkspace, startTestControl, type TestControl } from '../../../../testing/control.ts';
import { attempted } from '../../../../testing/outcomes.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const SLOT_MS = 300_000;

const opened = new AsyncDisposableStack();
let control: TestControl;
before(async () => void (control = opened.use(await startTestControl())));
after(() => opened.disposeAsync());

let workspaceId: string;
let token: string;
let sourceId: string;
beforeEach(async () => {
  workspaceId = await addWorkspace(control.store);
  token = await addToken(control.store, workspaceId, { role: 'owner' });
  sourceId = String((await post('/sources', { name: 'S' }))['id']);
  control.lanes.clear();
});

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await control.ask('POST', `/api/v1${path}`, { token, body });
  assert.ok(answer.status < 300, answer.text);
  return answer.body;
}

async function overview(): Promise<Overview> {
  const answer = await control.ask('GET', '/api/v1/overview', { token });
  assert.equal(answer.status, 200, answer.text);
  return answer.body as Overview;
}

const sql = (text: string, values: unknown[]) => control.store.asSystem((tx) => tx.query(text, values));

async function addDestinations(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, at) => `dst_${workspaceId}_${at}`);
  await sql(
    `INSERT INTO destinations (workspace_id, id, source_id, catalog, name, enabled, filters, settings)
     SELECT $1, id, $2, 'Webhooks', 'D', true, '[]', '{}' FROM unnest($3::text[]) AS given (id)`,
    [workspaceId, sourceId, ids],
  );
  return ids;
}

function addLane(destinationId: string, lane: Partial<LaneHealth>): void {
  const at = new Date().toISOString();
  const base = { destinationId, workspaceId, state: 'waiting' as const, since: at, depth: 1, bytes: 1, updatedAt: at };
  control.lanes.set(destinationId, { ...base, ...lane });
}

const pause = (ids: string[]) => sql('UPDATE destinations SET paused_at = now() WHERE id = ANY($1)', [ids]);

/** A delivery that waits, as the record has it. */
async function addWaiting(destinationIds: string[]): Promise<void> {
  const at = Date.now() - MINUTE_MS;
  const entries = destinationIds.map((destinationId) => {
    const base = {
      ...attempted(1, 'retry', 503),
      workspaceId,
      destinationId,
      at,
      receivedAt: new Date(at).toISOString(),
    };
    return { ...base, deliveryId: `dlv_${destinationId}`, messageId: `m-${destinationId}` };
  });
  const needs = { sample: 1, rows: 1, recordsFrom: '2000-01-01', knownPartitions: new Set<string>() };
  await control.store.asSystem((tx) => writeOutcomes(tx, entries, needs));
}

function countKinds(attention: Attention[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(attention, ({ kind }) => kind)].map(([kind, own]) => [kind, own.length]));
}

suite('troubles of lanes', () => {
  test('are told up to twenty of each kind, and the rest is counted', async () => {
    const ids = await addDestinations(100);
    const [failing, paused, deep, unseen] = [ids.slice(0, 25), ids.slice(25, 48), ids.slice(48, 72), ids.slice(72, 80)];
    for (const id of failing) addLane(id, { state: 'failing', depth: 50 });
    for (const id of paused) addLane(id, { state: 'paused', depth: 5 });
    for (const [at, id] of deep.entries()) addLane(id, { state: at % 2 ? 'waiting' : 'draining', depth: 2_000 });
    for (const id of ids.slice(80)) addLane(id, { state: 'waiting', depth: 3 });
    await pause([...paused, ...unseen]);
    await addWaiting(unseen);
    const { attention, attentionLeftOut } = await overview();
    assert.deepEqual(countKinds(attention), {
      destination_failing: 20,
      destination_paused: 20,
      destination_backlog: 20,
    });
    assert.equal(attentionLeftOut, 5 + 3 + 8 + 4);
  });

  test('have the places that lanes of deleted destinations would take', async () => {
    for (let at = 0; at < 30; at += 1) addLane(`dst_gone_${at}`, { state: 'failing', depth: 900 });
    const [last = ''] = await addDestinations(1);
    addLane(last, { state: 'failing', depth: 1 });
    const { attention, attentionLeftOut } = await overview();
    assert.deepEqual([attention.map(({ destinationId }) => destinationId), attentionLeftOut], [[last], 0]);
  });

  test('are told of a paused destination whose lane was last seen empty', async () => {
    const [id = ''] = await addDestinations(1);
    addLane(id, { state: 'paused', depth: 0 });
    await pause([id]);
    assert.deepEqual((await overview()).attention, [], 'nothing waits');
    await addWaiting([id]);
    assert.deepEqual(countKinds((await overview()).attention), { destination_paused: 1 });
  });
});

suite('while calls are not counted yet', () => {
  const slots = (at: number, calls: number) =>
    sql('INSERT INTO call_slots (workspace_id, slot, source_id, calls) VALUES ($1, $2, $3, $4)', [
      workspaceId,
      new Date(at - (at % SLOT_MS)),
      sourceId,
      calls,
    ]);
  const used = (at: number) =>
    sql('UPDATE write_keys SET last_used_at = $2 WHERE source_id = $1', [sourceId, new Date(at)]);

  test('a source whose write key is in use is not called quiet', async () => {
    await post(`/sources/${sourceId}/write-keys`, { label: 'K' });
    await slots(Date.now() - DAY_MS - 10 * MINUTE_MS, 400);
    await used(Date.now() - 50 * MINUTE_MS);
    assert.deepEqual(countKinds((await overview()).attention), { source_quiet: 1 });
    await used(Date.now() - MINUTE_MS);
    assert.deepEqual((await overview()).attention, []);
  });

  test('their rate is not known', async () => {
    await post(`/sources/${sourceId}/write-keys`, { label: 'K' });
    const rate = async () => (await overview()).tiles.callsPerMinute.now;
    assert.equal(await rate(), 0, 'no call ever came');
    await slots(Date.now() - 45 * MINUTE_MS, 400);
    await used(Date.now() - 44 * MINUTE_MS);
    assert.equal(await rate(), 0, 'none came lately');
    await used(Date.now());
    assert.equal(await rate(), null);
    await slots(Date.now(), 30);
    assert.ok(Number(await rate()) >= 3);
  });
});
