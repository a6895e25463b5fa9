/** The receipt of a deletion request, held against what is really in every store, with every role and both engines. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { columnsWith, streamsWith } from '../testing/find-traces.ts';
import { allFolded } from '../testing/audiences.ts';
import { answer, openReceiver } from '../testing/receiver.ts';
import { addDestination, addScene, ended, openStack, type Scene, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';
import { track } from '../testing/samples.ts';
import { openErasedBed, openTwoMinded } from '../testing/erased-bed.ts';

type Notification = { sourceId: string; destinationId: string; outcome: string | null; status: number | null };
type Request = {
  id: string;
  userHashes: string[];
  receipt: { notifications: Notification[]; erased: Record<string, number> };
};

type Recorded = { deliveries: number; attempts: number };

/** With characters that JSON writes in its own way. */
const GONE = 'somebody "quoted" \\ who wants to be forgotten';
const STAYS = 'somebody who stays';
/** A value that only the user's own calls hold. */
const MARK = 'a-value-that-nobody-else-has';

let stack: Stack;
before(async () => void (stack = await openStack({ MILLRACE_RETRY_SCALE: '20' })));
after(() => stack[Symbol.asyncDispose]());

async function fillAllStores(scene: Scene): Promise<void> {
  const mine = { userId: GONE, anonymousId: `browser of ${MARK}`, properties: { MARK } };
  const calls = Array.from({ length: 5 }, (_, n) => [track(`mine ${n}`, mine), track(`other ${n}`, { userId: STAYS })]);
  assert.equal(await stack.send(scene.writeKey, calls.flat()), 200);
  const refused = [GONE, STAYS].map((userId) => ({ type: 'track', userId, properties: { MARK: userId } }));
  assert.equal(await stack.send(scene.writeKey, refused), 400);
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
  const replay = { sourceId: scene.sourceId, destinationId: scene.destinationId, ...range };
  const { id } = await stack.get<Request>('POST', '/replays', { ...replay, filter: { userIds: [STAYS, GONE] } });
  await ended(stack, `/replays/${id}`);
  type Letter = { delivery: { event: { userId: string } } };
  const isMine = ({ delivery }: Letter) => delivery.event.userId === GONE;
  await until(async () => (await stack.deadLetters<Letter>()).filter(isMine).length === 5);
  const everywhere = ['attempts.answers', 'deliveries.user_id', 'jobs.asked', 'refusals.samples'];
  await until(async () => (await columnsWith(stack, GONE)).join() === everywhere.join());
  await until(async () => (await streamsWith(stack, GONE)).join() === 'DEAD,LANES-0');
  const recorded = `SELECT count(DISTINCT d.id)::int AS deliveries, count(a)::int AS attempts FROM deliveries d
    LEFT JOIN attempts a ON a.delivery_id = d.id WHERE d.user_id = $1`;
  await until(async () => {
    const [{ deliveries, attempts } = assert.fail()] = await stack.sql<Recorded>(recorded, [GONE]);
    return deliveries === 15 && attempts >= 10;
  });
  assert.deepEqual(await columnsWith(stack, MARK), ['attempts.answers', 'deliveries.anonymous_id']);
  assert.deepEqual(await streamsWith(stack, MARK), ['DEAD', 'LANES-0']);
}

// They wait most of the time, so they do it together.
suite('the receipt of a deletion request', { concurrency: true }, () => {
  test('names every store with what was erased there, and every receiver with its answer', {
    timeout: 120_000,
  }, async () => {
    await using good = await openTwoMinded({ events: 200, deletes: 202 });
    await using refusing = await openTwoMinded({ events: 400, deletes: 204 });
    await using down = await openTwoMinded({ events: 503, deletes: 503 });
    const scene = await addScene(stack, good.url);
    const refusingId = await addDestination(stack, scene.sourceId, { targets: [{ url: refusing.url }] });
    const downId = await addDestination(stack, scene.sourceId, { targets: [{ url: down.url }] });
    await until(async () => {
      await stack.send(scene.writeKey, [track('probe', { userId: STAYS, messageId: crypto.randomUUID() })]);
      return down.received.length > 0 && refusing.received.length > 0;
    });
    await fillAllStores(scene);

    const asked = { userIds: [GONE], sources: [scene.sourceId] };
    const { id, userHashes } = await stack.get<Request>('POST', '/deletion-requests', asked);
    await ended(stack, `/deletion-requests/${id}`, 60_000);
    Object.assign(down.status, { events: 200, deletes: 200 });
    let last: Request | undefined;
    const outcomes = async () => {
      last = await stack.get<Request>('GET', `/deletion-requests/${id}`);
      const { notifications } = last.receipt;
      return Object.fromEntries(notifications.map((one) => [one.destinationId, `${one.outcome} ${one.status}`]));
    };
    const isDelivered = (outcome: string) => outcome.startsWith('delivered');
    await until(async () => Object.values(await outcomes()).every(isDelivered));
    assert.deepEqual(await outcomes(), {
      [scene.destinationId]: 'delivered 202',
      [refusingId]: 'delivered 204',
      [downId]: 'delivered 200',
    });
    const { lanes = 0, ...erased } = last?.receipt.erased ?? {};
    assert.ok(lanes >= 5 || lanes === 0, 'deliver may have been faster than the count');
    assert.ok((erased['attempts'] ?? 0) >= 10);
    assert.deepEqual(
      { ...erased, attempts: 0 },
      { deadLetters: 5, deliveries: 15, attempts: 0, samples: 1, replays: 1, profiles: 0, memberships: 0, history: 0 },
    );

    await until(async () => (await streamsWith(stack, GONE)).length === 0);
    assert.deepEqual([await columnsWith(stack, GONE), await columnsWith(stack, MARK)], [[], []]);
    assert.deepEqual(await streamsWith(stack, MARK), []);
    const hash = userHashes[0] ?? assert.fail();
    assert.deepEqual(await columnsWith(stack, hash), ['audit_log.details', 'erased_users.user_hash', 'jobs.asked']);
    const kept = ['attempts.answers', 'deliveries.user_id', 'jobs.asked', 'refusals.samples'];
    assert.deepEqual(await columnsWith(stack, STAYS), kept, 'the other user is still there');
    assert.ok((await streamsWith(stack, STAYS)).includes('DEAD'));
  });

  test('names the profiles, memberships and changes of audiences; no id or key of the user is left anywhere', {
    timeout: 120_000,
  }, async () => {
    await using bed = await openErasedBed(stack);
    const { USER, PHONE } = bed.ids;
    await bed.makeKnown();
    const before = await bed.counted();
    assert.deepEqual([before.profiles, before.memberships], [1, 2]);
    const known = bed.told(USER).map(({ webhookId }) => webhookId);
    // Readers wait while requests come in and the user is erased: they fold these requests afterwards.
    const { id, userHashes } = await bed.whileReadersWait(async () => {
      for (let nth = 0; nth < 20; nth += 1) await bed.send({ userId: USER, anonymousId: PHONE, word: 'in flight' });
      await bed.send({ anonymousId: PHONE, word: 'in flight' });
      return bed.tenant.get<Request>('POST', '/deletion-requests', { userIds: [USER], sources: [bed.scene.sourceId] });
    });
    assert.equal(userHashes.length, 2, 'the former name is erased like the user');
    await allFolded(stack);
    await ended(bed.tenant, `/deletion-requests/${id}`, 60_000);
    const { receipt } = await bed.tenant.get<Request>('GET', `/deletion-requests/${id}`);
    const { profiles, memberships, history, lanes = 0, deadLetters = 0 } = receipt.erased;
    assert.deepEqual({ profiles, memberships, history }, before);
    assert.ok(deadLetters >= 2, 'the identifies that were refused');
    assert.ok(lanes >= 0);
    assert.deepEqual(
      [...new Set(receipt.notifications.map(({ destinationId }) => destinationId))].toSorted(),
      [bed.scene.destinationId, bed.downId, bed.refusingId].toSorted(),
      'destinations of an audience are told, whatever source they belong to',
    );
    // A relay that was slow stores its request now.
    await bed.appendClaimedBefore(Date.now() - 60_000);
    assert.equal(await bed.allRouted(), true);
    for (const text of bed.names()) {
      await until(async () => (await streamsWith(stack, text)).length === 0);
      assert.deepEqual([text, await columnsWith(stack, text)], [text, []]);
    }

    bed.refusing.status.events = 200;
    await bed.send({ userId: USER, word: 'back again' });
    await until(() => bed.told(USER).some(({ traits }) => traits['last_word'] === 'back again'));
    const again = bed.told(USER).filter(({ webhookId }) => !known.includes(webhookId));
    assert.deepEqual(again.map(({ traits }) => traits), [{ seen: true }, { last_word: 'back again' }]); // biome-ignore format: short
    assert.ok(again.every(({ context }) => context.personas['sequence'] === 1));
  });

  test('of a former name tells what does not hold any more of the user who has it', { timeout: 120_000 }, async () => {
    await using bed = await openErasedBed(stack);
    const { USER, FORMER } = bed.ids;
    bed.refusing.status.events = 200;
    await bed.makeKnown();
    const seen = () => bed.told(USER).flatMap(({ traits, context }) => ('seen' in traits ? [[traits['seen'], context.personas['sequence']]] : [])); // biome-ignore format: short
    const { receipt } = await bed.tenant.get<Request>('POST', '/deletion-requests', { userIds: [FORMER] });
    assert.deepEqual([receipt.erased['profiles'], receipt.erased['memberships']], [1, 0]);
    await until(() => seen().some(([value]) => value === false));
    await bed.send({ userId: USER, word: 'goes on' });
    await until(() => seen().length === 3);
    assert.deepEqual(seen(), [[true, 1], [false, 2], [true, 3]]); // biome-ignore format: short
  });

  test('says so when a receiver did not take it', { timeout: 60_000 }, async () => {
    await using receiver = await openReceiver(answer(410));
    const scene = await addScene(stack, receiver.url);
    const asked = { userIds: ['unwelcome'], sources: [scene.sourceId] };
    const { id } = await stack.get<Request>('POST', '/deletion-requests', asked);
    await until(async () => {
      const { receipt } = await stack.get<Request>('GET', `/deletion-requests/${id}`);
      const [one] = receipt.notifications;
      return one?.outcome === 'discarded' && one.status === 410;
    });
  });

  test('counts a user whose id is longer than the record keeps', { timeout: 60_000 }, async () => {
    await using receiver = await openReceiver();
    const scene = await addScene(stack, receiver.url);
    const userId = 'long '.repeat(150);
    const kept = userId.slice(0, 500);
    await stack.send(scene.writeKey, [track('of long', { userId })]);
    await until(async () => (await columnsWith(stack, kept)).includes('deliveries.user_id'));
    const asked = { userIds: [userId], sources: [scene.sourceId] };
    const { id } = await stack.get<Request>('POST', '/deletion-requests', asked);
    await ended(stack, `/deletion-requests/${id}`, 40_000);
    const { receipt } = await stack.get<Request>('GET', `/deletion-requests/${id}`);
    assert.deepEqual([receipt.erased['deliveries'], receipt.erased['attempts']], [1, 1]);
    assert.deepEqual(await columnsWith(stack, kept), []);
  });
});
