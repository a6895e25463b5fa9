import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Explanation } from '@millrace/contract/control';
import { addToken, addWorkspace, startTestControl, type TestControl } from '../testing/control.ts';
import { attempted } from '../testing/outcomes.ts';
import { deliveryId } from '../src/domain/delivery.ts';
import { insertDestination } from '../src/store/destinations.ts';
import { insertSource } from '../src/store/sources.ts';
import { writeOutcomes } from '../src/record/write-outcomes.ts';
import { until } from '../testing/until.ts';

const stack = new AsyncDisposableStack();
const needs = { sample: 1, rows: 1, recordsFrom: '2000-01-01', knownPartitions: new Set<string>() };
let control: TestControl;
let token: string;
let workspaceId: string;

before(async () => {
  control = stack.use(await startTestControl());
  workspaceId = await addWorkspace(control.store);
  token = await addToken(control.store, workspaceId, { role: 'viewer' });
});
after(() => stack.disposeAsync());

test('explain tells of one moment, although the recorder writes between its questions', async () => {
  const first = { ...attempted(1, 'retry', 503), workspaceId };
  const second = { ...attempted(2, 'delivered', 200), workspaceId };
  await control.store.asSystem((tx) => writeOutcomes(tx, [first], needs));
  const { promise: locked, resolve: isLocked } = Promise.withResolvers<void>();
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
  const recording = control.store.asSystem(async (tx) => {
    // Deliveries can be read meanwhile, attempts cannot: the question stands between the two.
    await tx.query('LOCK TABLE attempts IN ACCESS EXCLUSIVE MODE');
    isLocked();
    await asked;
    await writeOutcomes(tx, [second], needs);
  });
  await locked;
  const answer = control.ask('GET', `/api/v1/events/${first.messageId}/explain`, { token });
  await untilOneWaits();
  isAsked();
  await recording;
  const [told] = ((await answer).body as Explanation).destinations;
  assert.deepEqual([told?.state, told?.attempts, told?.history.length], ['retrying', 1, 1]);
  const later = await control.ask('GET', `/api/v1/events/${first.messageId}/explain`, { token });
  const [toldLater] = (later.body as Explanation).destinations;
  assert.deepEqual([toldLater?.state, toldLater?.attempts, toldLater?.history.length], ['delivered', 2, 2]);
});

test('explain knows a delivery whose row was left out, and the API says why it shows none', async () => {
  const sourceId = 'src_plain';
  const destination = { id: 'dst_plain', name: 'Shop', catalog: 'Webhooks', enabled: true, settings: {} };
  await control.store.asSystem(async (tx) => {
    await insertSource(tx, { workspaceId, id: sourceId, name: 'S' });
    await insertDestination(tx, { ...destination, workspace_id: workspaceId, source_id: sourceId });
  });
  const id = deliveryId(destination.id, sourceId, 'm-plain');
  const event = { workspaceId, sourceId, destinationId: destination.id, deliveryId: id, messageId: 'm-plain' };
  const entry = { ...attempted(1, 'delivered', 200), ...event };
  await control.store.asSystem((tx) => writeOutcomes(tx, [entry], { ...needs, rows: 0 }));
  const { verdict, story, withoutRow, destinations } = (
    await control.ask('GET', '/api/v1/events/m-plain/explain', { token })
  ).body as Explanation;
  const deliveredAt = new Date(entry.at).toISOString();
  assert.deepEqual([verdict, destinations], ['accepted', []]);
  assert.deepEqual(withoutRow, [
    { deliveryId: id, destinationId: destination.id, destinationName: 'Shop', deliveredAt },
  ]);
  assert.match(story.join(), /^Shop: Delivered at .*MILLRACE_RECORD_ROWS/);
  const codeOf = async (path: string) => (await control.ask('GET', path, { token })).body['code'];
  assert.equal(await codeOf(`/api/v1/deliveries/${id}`), 'delivery_without_row');
  assert.equal(await codeOf('/api/v1/deliveries/dlv_never'), 'not_found');
  const list = await control.ask('GET', '/api/v1/deliveries', { token });
  assert.equal(list.body['successRowsKept'], 1);
  const stranger = await addToken(control.store, await addWorkspace(control.store, 'Other'), { role: 'viewer' });
  const theirs = await control.ask('GET', '/api/v1/events/m-plain/explain', { token: stranger });
  assert.equal((theirs.body as Explanation).verdict, 'unknown');
  const theirCode = (await control.ask('GET', `/api/v1/deliveries/${id}`, { token: stranger })).body['code'];
  assert.equal(theirCode, 'not_found');
});

async function untilOneWaits(): Promise<void> {
  const waiting = () => control.store.asSystem((tx) => tx.query('SELECT pid FROM pg_locks WHERE NOT granted'));
  await until(async () => (await waiting()).length > 0);
}
