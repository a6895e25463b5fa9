import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ServerResponse } from 'node:http';
import { verifyStandardWebhook } from '@millrace/contract';
import type { WebhookSettings } from '@millrace/contract/control';
import type { OutcomeBatch, OutcomeEntry } from '../domain/outcome.ts';
import { type Bed, openBed } from '../../testing/deliver-bed.ts';
import { answer, openReceiver, type Received } from '../../testing/receiver.ts';
import { until } from '../../testing/until.ts';
import { track, tracks } from '../../testing/samples.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

type Item = { id: string; attempt: number; order: string; body: { event: string } };
type Batch = { version: number; type: string; events: Item[] };

const batchOf = ({ body }: Received) => JSON.parse(body) as Batch;
const namesIn = (received: Received) => batchOf(received).events.map(({ body }) => body.event);
const numbered = (from: number, to: number, change: object = {}) =>
  Array.from({ length: to - from }, (_, index) => track(`e${from + index}`, change));
const names = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `e${from + index}`);

type Respond = (received: Received, response: ServerResponse) => void;

/** A destination that gets batches, and what its receiver got. */
async function openBatches(respond: Respond = answer(200), change: Partial<WebhookSettings> = {}) {
  await using opening = new AsyncDisposableStack();
  const bed = opening.use(await openBed());
  /** With the status of the answer. */
  const posts: { status: number; received: Received }[] = [];
  const receiver = opening.use(
    await openReceiver((received, response) => {
      respond(received, response);
      posts.push({ status: response.statusCode, received });
    }),
  );
  const own = { targets: [{ url: receiver.url }], sharedSecret: SECRET };
  const settings: WebhookSettings = { ...own, bodyFormat: 'batch', ...change };
  await bed.putDestination({ settings });
  const open = opening.move();
  const good = () => posts.filter(({ status }) => status === 200).map(({ received }) => received);
  return {
    bed,
    settings,
    receiver,
    posts,
    sizes: () => receiver.received.map((received) => batchOf(received).events.length),
    delivered: () => good().flatMap(namesIn),
    isIdle: async () =>
      (await bed.unsettled()) === 0 &&
      Object.keys(await bed.laneGroups()).length === 0 &&
      (await bed.tickets()).length === 0,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

type AttemptEntry = Extract<OutcomeEntry, { kind: 'attempt' }>;

async function outcomes(bed: Bed): Promise<AttemptEntry[]> {
  const batches = (await bed.textOf('OUTCOMES')).split('\n').filter((line) => line !== '');
  const entries = batches.flatMap((line) => (JSON.parse(line) as OutcomeBatch).entries);
  return entries.filter((entry): entry is AttemptEntry => entry.kind === 'attempt');
}

suite('a destination that gets batches', () => {
  test('has the events of a request in few signed bodies, each once and in their order', async () => {
    await using scene = await openBatches();
    await using _ = await scene.bed.deliver();
    await scene.bed.append(...tracks(250));
    await until(() => scene.delivered().length === 250);
    assert.deepEqual(scene.delivered().toSorted(), names(0, 250).toSorted());
    assert.ok(scene.sizes().length <= 6, scene.sizes().join());
    assert.ok(scene.sizes().every((size) => size <= 100));
    for (const received of scene.receiver.received) {
      const { version, type, events } = batchOf(received);
      assert.deepEqual([version, type], [1, 'batch']);
      const places = namesIn(received).map((name) => Number(name.slice(1)));
      assert.deepEqual(
        places,
        places.toSorted((a, b) => a - b),
      );
      assert.ok(events.every(({ id, attempt }) => id.startsWith('dlv_') && attempt === 1));
      const orders = events.map(({ order }) => order);
      assert.deepEqual(orders, orders.toSorted(), 'the order of each event is beside it');
      assert.match(orders[0] ?? '', /^\d{13}-\d\d-\d{15}-\d{4}$/);
      const { headers, body } = received;
      const timestampSeconds = Number(headers['webhook-timestamp']);
      const signature = String(headers['webhook-signature']);
      assert.ok(
        verifyStandardWebhook(SECRET, body, { id: String(headers['webhook-id']), timestampSeconds, signature }),
      );
    }
    await until(scene.isIdle);
  });

  test('has the events of requests that come together in one body', async () => {
    await using scene = await openBatches();
    for (const call of tracks(30)) await scene.bed.append(call);
    await using _ = await scene.bed.deliver();
    await until(() => scene.delivered().length === 30);
    assert.ok(scene.sizes().length <= 10, scene.sizes().join());
    await until(scene.isIdle);
  });

  test('has each event in the record and each request acknowledged, with the size of its batch', async () => {
    await using scene = await openBatches();
    await using _ = await scene.bed.deliver();
    await scene.bed.append(...tracks(20));
    await until(scene.isIdle);
    const entries = await outcomes(scene.bed);
    const batches = scene.receiver.received.map((received) => batchOf(received).events);
    const sized = batches.flatMap((events) => events.map(({ id }) => `${id} ${events.length}`));
    assert.deepEqual(
      entries.map(({ deliveryId, answers }) => `${deliveryId} ${answers[0]?.events ?? 1}`).toSorted(),
      sized.toSorted(),
      'the id in the body is the id of the record',
    );
    assert.equal(entries.length, 20);
  });

  test('that is down gets every event when it is back, and none of it twice', async () => {
    let isDown = true;
    await using scene = await openBatches((one, response) => answer(isDown ? 503 : 200)(one, response));
    await using _ = await scene.bed.deliver({ retryScale: 20 });
    await scene.bed.append(...numbered(0, 400));
    await until(async () => (await scene.bed.unsettled()) === 0);
    isDown = false;
    await until(() => new Set(scene.delivered()).size === 400);
    assert.equal(scene.delivered().length, 400);
    const attempts = scene.posts.flatMap(({ received }) => batchOf(received).events).map(({ attempt }) => attempt);
    assert.ok(Math.max(...attempts) > 1, 'attempts are counted by event');
    await until(scene.isIdle);
    assert.deepEqual(await scene.bed.deadLetters(), []);
  });

  test('that asks for time is not sent anything before', async () => {
    let count = 0;
    await using scene = await openBatches((one, response) => {
      count += 1;
      answer(count === 1 ? 429 : 200, count === 1 ? { 'Retry-After': '2' } : {})(one, response);
    });
    await using _ = await scene.bed.deliver({ retryScale: 20 });
    await scene.bed.append(...numbered(0, 50));
    await until(() => scene.delivered().length === 50);
    const [first, ...later] = scene.receiver.received;
    for (const { at } of later) assert.ok(at - (first?.at ?? 0) >= 1_990);
  });
});

suite('an event that its receiver cannot take', () => {
  const isPoisoned = (received: Received) => namesIn(received).includes('e7');

  test('is refused alone, and the others of its batch are delivered', async () => {
    await using scene = await openBatches((one, response) => answer(isPoisoned(one) ? 422 : 200)(one, response));
    await using _ = await scene.bed.deliver();
    await scene.bed.append(...numbered(0, 100));
    await until(() => scene.delivered().length === 99);
    await until(async () => (await scene.bed.deadLetters()).length === 1);
    const [letter] = await scene.bed.deadLetters();
    assert.equal(letter?.reason, 'discarded');
    assert.equal(letter?.delivery.event.messageId, 'm-e7');
    const tried = letter?.delivery.history.map(({ events = 1 }) => events) ?? [];
    assert.equal(tried.at(-1), 1, 'its last attempt was alone');
    assert.ok(tried.length <= 4, tried.join());
    assert.equal(new Set(scene.delivered()).size, 99, 'none of them twice');
    assert.ok(scene.sizes().length <= 20, scene.sizes().join());
    await until(scene.isIdle);
  });

  test('and breaks it is alone after a few attempts, and the others are delivered', async () => {
    await using scene = await openBatches((one, response) => answer(isPoisoned(one) ? 500 : 200)(one, response));
    await using _ = await scene.bed.deliver({ retryScale: 100 });
    await scene.bed.append(...numbered(0, 60));
    await until(() => new Set(scene.delivered()).size === 59);
    assert.equal(scene.delivered().length, 59);
    const poisoned = () => scene.posts.map(({ received }) => received).filter(isPoisoned);
    await until(() => poisoned().some((received) => namesIn(received).length === 1));
  });

  test('because it is too large goes alone, and batches stay below the size that was refused', async () => {
    const limit = 60_000;
    await using scene = await openBatches((one, response) =>
      answer(one.body.length > limit ? 413 : 200)(one, response),
    );
    await using _ = await scene.bed.deliver();
    const properties = { text: 'x'.repeat(1_000) };
    let sent = 0;
    const sendMore = async () => {
      await scene.bed.append(...numbered(sent, sent + 100, { properties }));
      sent += 100;
      await until(() => new Set(scene.delivered()).size === sent);
      await until(scene.isIdle);
    };
    const refused = () => scene.posts.filter(({ status }) => status === 413);
    // A busy machine may divide the first ones by itself.
    do await sendMore();
    while (refused().length === 0);
    const least = Math.min(...refused().map(({ received }) => received.body.length));
    const before = scene.posts.length;
    await sendMore();
    assert.ok(scene.posts.slice(before).every(({ received }) => received.body.length < least));
    assert.deepEqual(await scene.bed.deadLetters(), []);
  });
});
