/** The receipt of a deletion request, held against what is really in every store, with every role and both engines. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { answer, openReceiver, type Received } from '../testing/receiver.ts';
import { addDestination, addScene, ended, openStack, type Scene, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';
import { track } from '../testing/samples.ts';

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
const written = (text: string) => JSON.stringify(text).slice(1, -1);

let stack: Stack;
before(async () => void (stack = await openStack({ MILLRACE_RETRY_SCALE: '20' })));
after(() => stack[Symbol.asyncDispose]());

const isDelete = ({ body }: Received) => body.startsWith('{"type":"delete"');

/** Takes notifications of deletion as one status, events as another, and says back what it was sent. */
async function openTwoMinded(status: { events: number; deletes: number }) {
  const receiver = await openReceiver((one, response) => {
    response.statusCode = isDelete(one) ? status.deletes : status.events;
    response.end(response.statusCode === 204 ? '' : `I got ${one.body}`);
  });
  return { ...receiver, status };
}

/** Every column of every table in which a text stands, as it is or as JSON writes it. */
async function columnsWith(text: string): Promise<string[]> {
  type Column = { table_name: string; column_name: string };
  const columns = await stack.sql<Column>(`SELECT c.table_name, c.column_name FROM information_schema.columns c
    JOIN information_schema.tables t USING (table_schema, table_name)
    WHERE t.table_schema = current_schema() AND t.table_type = 'BASE TABLE' ORDER BY 1, 2`);
  const found: string[] = [];
  for (const { table_name: table, column_name: column } of columns) {
    const where = `strpos("${column}"::text, $1) > 0 OR strpos("${column}"::text, $2) > 0`;
    const once = written(text);
    const rows = await stack.sql(
      `SELECT 1 AS one FROM "${table}" WHERE ${where} OR strpos("${column}"::text, $3) > 0`,
      [text, once, written(once)],
    );
    if (rows.length > 0) found.push(`${table.replace(/_\d{8}$/, '')}.${column}`);
  }
  return [...new Set(found)].toSorted();
}

async function streamsWith(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const stream of ['LANES-0', 'DEAD', 'KV_config', 'KV_health']) {
    if ((await stack.textOf(stream)).includes(written(text))) found.push(stream);
  }
  return found;
}

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
  await until(async () => (await columnsWith(GONE)).join() === everywhere.join());
  await until(async () => (await streamsWith(GONE)).join() === 'LANES-0,DEAD');
  const recorded = `SELECT count(DISTINCT d.id)::int AS deliveries, count(a)::int AS attempts FROM deliveries d
    LEFT JOIN attempts a ON a.delivery_id = d.id WHERE d.user_id = $1`;
  await until(async () => {
    const [{ deliveries, attempts } = assert.fail()] = await stack.sql<Recorded>(recorded, [GONE]);
    return deliveries === 15 && attempts >= 10;
  });
  assert.deepEqual(await columnsWith(MARK), ['attempts.answers', 'deliveries.anonymous_id']);
  assert.deepEqual(await streamsWith(MARK), ['LANES-0', 'DEAD']);
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
      { deadLetters: 5, deliveries: 15, attempts: 0, samples: 1, replays: 1 },
    );

    await until(async () => (await streamsWith(GONE)).length === 0);
    assert.deepEqual([await columnsWith(GONE), await columnsWith(MARK)], [[], []]);
    assert.deepEqual(await streamsWith(MARK), []);
    const hash = userHashes[0] ?? assert.fail();
    assert.deepEqual(await columnsWith(hash), ['audit_log.details', 'erased_users.user_hash', 'jobs.asked']);
    const kept = ['attempts.answers', 'deliveries.user_id', 'jobs.asked', 'refusals.samples'];
    assert.deepEqual(await columnsWith(STAYS), kept, 'the other user is still there');
    assert.ok((await streamsWith(STAYS)).includes('DEAD'));
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
    await until(async () => (await columnsWith(kept)).includes('deliveries.user_id'));
    const asked = { userIds: [userId], sources: [scene.sourceId] };
    const { id } = await stack.get<Request>('POST', '/deletion-requests', asked);
    await ended(stack, `/deletion-requests/${id}`, 40_000);
    const { receipt } = await stack.get<Request>('GET', `/deletion-requests/${id}`);
    assert.deepEqual([receipt.erased['deliveries'], receipt.erased['attempts']], [1, 1]);
    assert.deepEqual(await columnsWith(kept), []);
  });
});
