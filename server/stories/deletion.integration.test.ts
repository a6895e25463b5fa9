/** A user is erased: receivers are told, our own stores forget, and what comes later is dropped if asked. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { answer, openReceiver } from '../testing/receiver.ts';
import { addDestination, addScene, ended, openStack, type Stack, suppressionHeard } from '../testing/stack.ts';
import { until } from '../testing/until.ts';
import { track } from '../testing/samples.ts';

type Request = {
  id: string;
  state: string;
  userHashes: string[];
  receipt: { notifications: { destinationId: string; deliveryId: string }[]; erased: Record<string, number> };
};

const GONE = 'somebody-who-wants-to-be-forgotten';
const QUIET = 'somebody-who-is-not-to-be-heard-of';
const STAYS = 'somebody-who-stays';

let stack: Stack;
before(async () => void (stack = await openStack({ MILLRACE_RETRY_SCALE: '20' })));
after(() => stack[Symbol.asyncDispose]());

async function openMoody(status: number) {
  const mood = { status };
  const receiver = await openReceiver((one, response) => answer(mood.status)(one, response));
  return Object.assign(receiver, { mood });
}

type Moody = Awaited<ReturnType<typeof openMoody>>;
const bodiesOf = ({ received }: Moody) => received.map(({ body }) => JSON.parse(body) as Record<string, string>);
const ofUser = (receiver: Moody, userId: string) => bodiesOf(receiver).filter((body) => body['userId'] === userId);

// They wait most of the time, so they do it together.
suite('a deletion request', { concurrency: true }, () => {
  test('leaves no trace of the user in any store but a hash, and tells what it did', { timeout: 120_000 }, async () => {
    await using good = await openMoody(200);
    await using down = await openMoody(503);
    await using refusing = await openMoody(400);
    const scene = await addScene(stack, good.url);
    const downId = await addDestination(stack, scene.sourceId, { targets: [{ url: down.url }] });
    const refusingId = await addDestination(stack, scene.sourceId, { targets: [{ url: refusing.url }] });
    await until(async () => {
      await stack.send(scene.writeKey, [track('warm-up', { messageId: crypto.randomUUID(), userId: STAYS })]);
      return down.received.length > 0 && refusing.received.length > 0;
    });
    const calls = [GONE, STAYS].flatMap((userId, of) =>
      Array.from({ length: 30 }, (_, n) => track(`Event ${of}-${n}`, { userId })),
    );
    await stack.send(scene.writeKey, calls);
    await until(() => ofUser(good, GONE).length === 30 && ofUser(refusing, GONE).length === 30);
    await until(async () => (await stack.deadLetterCount(refusingId)) >= 60);
    await until(async () => (await stack.textOf('LANES-0')).includes(GONE));
    refusing.mood.status = 200;

    const body = { userIds: [GONE], sources: [scene.sourceId], suppress: true };
    const { id } = await stack.get<Request>('POST', '/deletion-requests', body);
    await suppressionHeard(stack, scene.sourceId, GONE);
    // Deliveries in flight at that moment still come.
    const heardAt = Date.now() + 1_000;
    await ended(stack, `/deletion-requests/${id}`, 60_000);
    const { state, receipt, userHashes } = await stack.get<Request>('GET', `/deletion-requests/${id}`);
    assert.equal(state, 'done');
    assert.equal(receipt.erased['deadLetters'], 30);
    assert.equal(receipt.notifications.length, 3);
    assert.ok(!(await stack.textOf('DEAD')).includes(GONE));
    assert.ok((await stack.textOf('DEAD')).includes(STAYS));

    down.mood.status = 200;
    await until(() => bodiesOf(down).some(({ type }) => type === 'delete'));
    await until(() => new Set(ofUser(down, STAYS).map(({ event }) => event)).size >= 31);
    const late = down.received.filter(({ at, body }) => at > heardAt && body.includes(GONE));
    const events = late.filter(({ body }) => !body.startsWith('{"type":"delete"'));
    assert.deepEqual(events, [], 'nothing of the user was sent once the request was heard of');
    for (const receiver of [good, down, refusing]) {
      const told = receiver.received.filter(({ body }) => body.startsWith('{"type":"delete"'));
      assert.match(told[0]?.body ?? '', /^\{"type":"delete","userId":"[^"]+","timestamp":"[^"]+"\}$/);
      const ids = [...new Set(told.map(({ headers }) => headers['webhook-id']))];
      assert.equal(ids.length, 1);
      assert.ok(receipt.notifications.some(({ deliveryId }) => deliveryId === ids[0]));
    }
    await until(async () => !(await stack.textOf('LANES-0')).includes(GONE));
    assert.ok(downId.startsWith('dst_'));
    const dump = stack.postgres.dump();
    assert.ok(!dump.includes(GONE), 'PostgreSQL holds the id');
    assert.ok(dump.includes(userHashes[0] ?? 'no hash'), 'the tombstone is there');
    assert.ok(!(await stack.textOf('KV_config')).includes(GONE));
  });

  test('takes what waits out of the lane of a destination that is switched off, and leaves the rest', async () => {
    await using receiver = await openMoody(503);
    const scene = await addScene(stack, receiver.url);
    const leaver = 'somebody-who-waits-in-a-lane';
    const calls = Array.from({ length: 40 }, (_, n) => track(`Waiting ${n}`, { userId: n % 2 === 0 ? leaver : STAYS }));
    await stack.send(scene.writeKey, calls);
    await until(async () => (await stack.textOf('LANES-0')).includes(leaver));
    await stack.get('PATCH', `/destinations/${scene.destinationId}`, { enabled: false });
    const body = { userIds: [leaver], sources: [scene.sourceId] };
    const { id } = await stack.get<Request>('POST', '/deletion-requests', body);
    await ended(stack, `/deletion-requests/${id}`, 60_000);
    const lanes = await stack.textOf('LANES-0');
    assert.ok(!lanes.includes(leaver) && lanes.includes('Waiting 1'));
    const { receipt } = await stack.get<Request>('GET', `/deletion-requests/${id}`);
    assert.deepEqual(receipt.notifications, [], 'a destination that is switched off is not told');
    receiver.mood.status = 200;
    const before = receiver.received.length;
    await stack.get('PATCH', `/destinations/${scene.destinationId}`, { enabled: true });
    const later = () => bodiesOf(receiver).slice(before);
    await until(() => new Set(later().map(({ event }) => event)).size === 20);
    assert.ok(later().every(({ userId }) => userId === STAYS));
  });

  test('keeps the user from being replayed, and drops later calls with their count kept', async () => {
    await using receiver = await openMoody(200);
    const scene = await addScene(stack, receiver.url);
    const sources = [scene.sourceId];
    await stack.send(scene.writeKey, [track('old', { userId: QUIET }), track('other', { userId: STAYS })]);
    await until(() => receiver.received.length === 2);
    const { id } = await stack.get<Request>('POST', '/deletion-requests', {
      userIds: [QUIET],
      sources,
      suppress: true,
    });
    await until(() => bodiesOf(receiver).some(({ type }) => type === 'delete'));
    await suppressionHeard(stack, scene.sourceId, QUIET);

    const range = { from: '2026-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
    const asked = { sourceId: scene.sourceId, destinationId: scene.destinationId, ...range };
    type Preview = { count: number; skipped: Record<string, number> };
    const preview = await stack.get<Preview>('POST', '/replays/preview', asked);
    assert.deepEqual([preview.count, preview.skipped], [1, { erased: 1 }]);

    const mixed = (n: number) => [track(`late ${n}`, { userId: QUIET }), track(`fine ${n}`, { userId: STAYS })];
    assert.equal(await stack.send(scene.writeKey, mixed(1)), 200);
    assert.equal(await stack.send(scene.writeKey, [track('late 2', { userId: QUIET })]), 200);
    await until(() => bodiesOf(receiver).some(({ event }) => event === 'fine 1'));
    const stored = `${await stack.textOf('EVENTS-0')}${await stack.textOf('EVENTS-1')}`;
    assert.ok(stored.includes('fine 1') && !stored.includes('late'), 'not even stored');
    const counted = 'SELECT sum(count)::int AS calls FROM suppressed_calls WHERE source_id = $1';
    await until(async () => (await stack.sql<{ calls: number }>(counted, sources))[0]?.calls === 2);
    assert.ok(!bodiesOf(receiver).some(({ event }) => event?.startsWith('late')));
    await ended(stack, `/deletion-requests/${id}`, 40_000);
  });

  test('of a user of another source leaves this one alone', async () => {
    await using receiver = await openMoody(200);
    const one = await addScene(stack, receiver.url);
    const other = await addScene(stack, receiver.url);
    const body = { userIds: ['visitor'], sources: [other.sourceId], suppress: true };
    await stack.get('POST', '/deletion-requests', body);
    await until(() => bodiesOf(receiver).some(({ type }) => type === 'delete'));
    await suppressionHeard(stack, other.sourceId, 'visitor');
    await stack.send(one.writeKey, [track('kept', { userId: 'visitor' })]);
    await until(() => bodiesOf(receiver).some(({ event }) => event === 'kept'));
    assert.equal((await stack.ask('POST', '/deletion-requests', { ...body, sources: ['src_none'] })).status, 404);
  });
});
