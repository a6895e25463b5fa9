/** Suppressed users, with every role and both engines: their calls are dropped, counted, and taken again when it is lifted. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { openReceiver } from '../testing/receiver.ts';
import { addScene, monthsSince, openStack, type Scene, type Stack, suppressionHeard } from '../testing/stack.ts';
import { until } from '../testing/until.ts';
import { track } from '../testing/samples.ts';

type Usage = { calls: number; sources: { sourceId: string; calls: number; suppressed: number }[] };
type Dropped = { items: { day: string; sourceId: string; calls: number }[] };
type Receiver = Awaited<ReturnType<typeof openReceiver>>;

/** Within a second, which the projection bench measures; the rest is for the stalls of a busy machine. */
const HEARD_WITHIN_MS = 10_000;
const QUIET = 'somebody-not-to-be-heard-of';

const startedAt = new Date();
let stack: Stack;
let receiver: Receiver;
before(async () => {
  stack = await openStack();
  receiver = await openReceiver();
});
after(async () => {
  await receiver[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

const arrived = (text: string) => receiver.received.some(({ body }) => body.includes(text));

async function suppress(scene: Scene, userId: string, sources: string[] | undefined = [scene.sourceId]): Promise<void> {
  await stack.get('POST', '/deletion-requests', { userIds: [userId], suppress: true, ...(sources && { sources }) });
  await until(() => arrived(`"delete","userId":"${userId}"`));
  await suppressionHeard(stack, scene.sourceId, userId);
}

async function usageOf({ sourceId }: Scene): Promise<number[]> {
  let [calls, suppressed] = [0, 0];
  for (const month of monthsSince(startedAt)) {
    const { sources } = await stack.get<Usage>('GET', `/usage?month=${month}`);
    const own = sources.find((each) => each.sourceId === sourceId);
    calls += own?.calls ?? 0;
    suppressed += own?.suppressed ?? 0;
  }
  return [calls, suppressed];
}

async function droppedOf({ sourceId }: Scene): Promise<Dropped['items']> {
  const items: Dropped['items'] = [];
  for (const month of monthsSince(startedAt)) {
    items.push(...(await stack.get<Dropped>('GET', `/suppressions/calls?month=${month}`)).items);
  }
  return items.filter((each) => each.sourceId === sourceId);
}

const today = () => new Date().toISOString().slice(0, 10);

suite('calls of a suppressed user', () => {
  test('are counted by source and day, and as usage of the source like all others', async () => {
    const scene = await addScene(stack, receiver.url);
    await suppress(scene, QUIET);
    const days = [today()];
    const mixed = [track('dropped 1', { userId: QUIET }), track('kept', { userId: 'u2' })];
    assert.equal(await stack.send(scene.writeKey, mixed), 200);
    assert.equal(await stack.send(scene.writeKey, [track('dropped 2', { userId: QUIET })]), 200);
    const alias = { type: 'alias', userId: 'u3', previousId: QUIET, messageId: 'dropped 3' };
    assert.equal(await stack.send(scene.writeKey, [alias]), 200);
    await until(async () => (await usageOf(scene)).join() === '4,3');
    days.push(today());
    const dropped = await droppedOf(scene);
    assert.equal(
      dropped.reduce((sum, { calls }) => sum + calls, 0),
      3,
    );
    // One row, or two when midnight came between the calls.
    const rowDays = dropped.map(({ day }) => day);
    assert.equal(rowDays.length, new Set(rowDays).size);
    assert.ok(
      rowDays.every((day) => days.includes(day)),
      `${rowDays.join()} of ${days.join()}`,
    );
    assert.deepEqual((await stack.get<Dropped>('GET', '/suppressions/calls?month=2020-01')).items, []);
    await until(() => arrived('"kept"'));
    assert.ok(!arrived('dropped'));
  });

  test('are dropped also when the id is a number', async () => {
    const scene = await addScene(stack, receiver.url);
    await suppress(scene, '1000000000000000000000');
    assert.equal(await stack.send(scene.writeKey, [track('numbered', { userId: 1e21 })]), 200);
    await until(async () => (await usageOf(scene)).join() === '1,1');
    const stored = `${await stack.textOf('EVENTS-0')}${await stack.textOf('EVENTS-1')}`;
    assert.ok(!stored.includes('numbered'), 'not even stored');
  });

  test('leave no sample when they are refused, only their count', async () => {
    const scene = await addScene(stack, receiver.url);
    await suppress(scene, 'somebody-refused');
    const calls = ['somebody-refused', 'somebody-else'].map((userId) => ({ type: 'track', userId, messageId: userId }));
    assert.equal(await stack.send(scene.writeKey, calls), 400);
    type Refusals = { items: { code: string; count: number; samples: object[] }[] };
    const read = () => stack.get<Refusals>('GET', `/sources/${scene.sourceId}/refusals`);
    const find = ({ items }: Refusals) => items.find(({ code }) => code === 'event_not_defined');
    await until(async () => find(await read())?.count === 2);
    const text = JSON.stringify(await read());
    assert.ok(text.includes('somebody-else') && !text.includes('somebody-refused'));
    assert.equal(await stack.send(scene.writeKey, [...calls, track('beside them', { userId: 'u2' })]), 200);
    const stored = `${await stack.textOf('EVENTS-0')}${await stack.textOf('EVENTS-1')}`;
    assert.ok(
      stored.includes('beside them') && !stored.includes('somebody-refused'),
      'nor are they stored with others',
    );
  });
});

suite('a suppression that is lifted', () => {
  test('lets calls through promptly, is in the audit log, and leaves the tombstone', async (t) => {
    const scene = await addScene(stack, receiver.url);
    const userId = 'somebody-who-came-back';
    await stack.send(scene.writeKey, [track('of before', { userId })]);
    await until(() => arrived('"of before"'));
    await suppress(scene, userId);
    await stack.send(scene.writeKey, [track('meanwhile', { userId })]);
    const lift = () => stack.ask('POST', '/suppressions/lift', { userId });
    const { status, body } = await lift();
    assert.deepEqual([status, body['sources']], [200, [scene.sourceId]]);
    const liftedAt = performance.now();
    await until(async () => {
      await stack.send(scene.writeKey, [track('back', { userId, messageId: crypto.randomUUID() })]);
      return arrived('"back"');
    });
    const heardMs = performance.now() - liftedAt;
    t.diagnostic(`heard of after ${Math.round(heardMs)} ms`);
    assert.ok(heardMs < HEARD_WITHIN_MS, `${Math.round(heardMs)} ms`);
    assert.ok(!arrived('meanwhile'), 'what was dropped is gone');
    const range = { from: '2026-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
    const asked = { sourceId: scene.sourceId, destinationId: scene.destinationId, ...range };
    const preview = await stack.get<{ skipped: object }>('POST', '/replays/preview', asked);
    assert.deepEqual(preview.skipped, { erased: 1 }, 'what was erased stays so');
    type Log = { items: { action: string; objectId: string }[] };
    const { items } = await stack.get<Log>('GET', '/audit-log');
    const logged = items.find(({ action }) => action === 'suppression.lifted');
    assert.equal(logged?.objectId, body['userHash']);
    assert.ok(!JSON.stringify(items).includes(userId));
    assert.equal((await lift()).status, 404, 'there is none any more');
  });

  test('is lifted for the sources that are named, if it was asked for by source', async () => {
    const one = await addScene(stack, receiver.url);
    const other = await addScene(stack, receiver.url);
    const userId = 'somebody-of-two-sources';
    await suppress(one, userId, [one.sourceId, other.sourceId]);
    const lift = (sources?: string[]) =>
      stack.ask('POST', '/suppressions/lift', { userId, ...(sources && { sources }) });
    assert.equal((await lift(['src_none'])).status, 404);
    assert.deepEqual((await lift([one.sourceId])).body['sources'], [one.sourceId]);
    await until(async () => {
      await stack.send(one.writeKey, [track('of one', { userId, messageId: crypto.randomUUID() })]);
      return arrived('"of one"');
    });
    await stack.send(other.writeKey, [track('of the other', { userId })]);
    await until(async () => (await usageOf(other)).join() === '1,1');
    assert.ok(!arrived('of the other'));
  });

  test('cannot be lifted for one source when it is for all', async () => {
    const scene = await addScene(stack, receiver.url);
    const userId = 'somebody-of-no-source';
    const asked = { userIds: [userId], suppress: true };
    await stack.get('POST', '/deletion-requests', asked);
    const refused = await stack.ask('POST', '/suppressions/lift', { userId, sources: [scene.sourceId] });
    assert.equal(refused.status, 400);
    assert.match(JSON.stringify(refused.body), /"\/sources".*suppressed for all sources/);
    const { body } = await stack.ask('POST', '/suppressions/lift', { userId });
    assert.equal(body['sources'], null);
  });
});
