/** Stored events delivered anew, with every role and both engines. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { watchDelay } from '../src/metrics/watch-delay.ts';
import { openReceiver } from '../testing/receiver.ts';
import { addScene, ended, type Job, openStack, type Scene, type Stack } from '../testing/stack.ts';
import { track, tracks } from '../testing/samples.ts';
import { until, untilSteady } from '../testing/until.ts';

type Preview = { count: number; isExact: boolean; skipped: Record<string, number>; first: { event: string }[] };
type Receiver = Awaited<ReturnType<typeof openReceiver>>;

let stack: Stack;
before(async () => void (stack = await openStack()));
after(() => stack[Symbol.asyncDispose]());

const anHour = 3_600_000;
function rangeOf({ sourceId, destinationId }: Scene, change: object = {}) {
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  return { sourceId, destinationId, from: at(-anHour), to: at(anHour), ...change };
}

const idsOf = (receiver: Receiver, from = 0) =>
  receiver.received.slice(from).map(({ headers }) => headers['webhook-id']);
/** Each with the id of its delivery. */
const ordersOf = (received: Receiver['received']) =>
  new Map(received.map(({ headers }) => [headers['webhook-id'], headers['x-millrace-order']] as const));
const start = (scene: Scene, change: object = {}) => stack.get<Job>('POST', '/replays', rangeOf(scene, change));

/** In several requests, which are in both event streams then. */
async function sendAll(scene: Scene, calls: object[], atOnce = 50): Promise<void> {
  for (let first = 0; first < calls.length; first += atOnce) {
    assert.equal(await stack.send(scene.writeKey, calls.slice(first, first + atOnce)), 200);
  }
}

type Look = () => Promise<Job>;

/** Each change of the progress until `count` are done, with the time by which it was seen. */
async function stepsUntil(look: Look, count: number): Promise<{ at: number; done: number }[]> {
  const steps: { at: number; done: number }[] = [];
  await until(async () => {
    const { done } = (await look()).progress;
    if (done !== (steps.at(-1)?.done ?? 0)) steps.push({ at: performance.now(), done });
    return done >= count;
  }, 60_000);
  return steps;
}

/** The highest rate over two seconds or more. A stall of the machine lowers the rate of some windows, never of all. */
function bestPerSecond(steps: readonly { at: number; done: number }[]): number {
  const windows = steps.flatMap((first, index) =>
    steps
      .slice(index + 1)
      .map((last) => ({ ms: last.at - first.at, done: last.done - first.done }))
      .filter(({ ms }) => ms >= 2_000),
  );
  return Math.max(...windows.map(({ ms, done }) => (done * 1_000) / ms));
}

/** The job when all that it made has come: within 2 s of the asking, and nothing after that. */
async function stopped(
  ask: () => Promise<unknown>,
  { look, receiver }: { look: Look; receiver: Receiver },
): Promise<Job> {
  let stalledMs = 0;
  using _ = watchDelay((lateMs) => void (stalledMs += lateMs));
  await ask();
  const askedAt = Date.now();
  await untilSteady(() => receiver.received.length, 2_500);
  let job = await look();
  await until(async () => {
    job = await look();
    return job.state !== 'running' && new Set(idsOf(receiver, 2_000)).size === job.progress.done;
  });
  const lastMs = (receiver.received.at(-1)?.at ?? 0) - askedAt;
  assert.ok(lastMs < 2_000 + stalledMs, `the last came ${lastMs} ms after it was asked to be ${job.state}`);
  return job;
}

suite('a replay', () => {
  test('delivers what the preview counted, once each, with the webhook-id of the first time', async () => {
    await using receiver = await openReceiver();
    const scene = await addScene(stack, receiver.url);
    await sendAll(scene, [...tracks(300), track('kept back', { integrations: { All: false } })]);
    await until(() => receiver.received.length === 300);
    const preview = await stack.get<Preview>('POST', '/replays/preview', rangeOf(scene));
    assert.deepEqual([preview.count, preview.isExact, preview.skipped], [300, true, { integrations_map: 1 }]);
    assert.equal(preview.first.length, 5);
    const job = await ended(stack, `/replays/${(await start(scene)).id}`);
    assert.deepEqual([job.state, job.progress.done, job.progress.total], ['done', 300, 300]);
    assert.deepEqual(job.progress.skipped, { integrations_map: 1 });
    await until(() => receiver.received.length === 600);
    assert.deepEqual(new Set(idsOf(receiver, 300)), new Set(idsOf(receiver).slice(0, 300)));
    assert.equal(new Set(idsOf(receiver, 300)).size, 300);
    assert.deepEqual(ordersOf(receiver.received.slice(300)), ordersOf(receiver.received.slice(0, 300)));
    const { items } = await stack.get<{ items: { action: string; objectId: string }[] }>('GET', '/audit-log');
    assert.ok(items.some(({ action, objectId }) => action === 'replay.started' && objectId === job.id));
  });

  test('takes what was received in the range and fits the filter, and nothing else', async () => {
    await using receiver = await openReceiver();
    const scene = await addScene(stack, receiver.url);
    const people = [track('A'), track('B', { userId: 'u2' }), { type: 'identify', userId: 'u2', messageId: 'm-i' }];
    // One after the other has come: each part is received later than the one before.
    await sendAll(scene, [track('before')]);
    await until(() => receiver.received.length === 1);
    await sendAll(scene, people, 2);
    await until(() => receiver.received.length === 4);
    await sendAll(scene, [track('after')]);
    await until(() => receiver.received.length === 5);
    let recorded: { receivedAt: string }[] = [];
    await until(async () => {
      ({ items: recorded } = await stack.get('GET', `/deliveries?sourceId=${scene.sourceId}`));
      return recorded.length === 5;
    });
    const times = recorded.map(({ receivedAt }) => receivedAt).toSorted();
    const [, from, , , to] = times;
    const counts = async (filter?: object) => {
      const body = rangeOf(scene, { from, to, ...(filter && { filter }) });
      return (await stack.get<Preview>('POST', '/replays/preview', body)).count;
    };
    assert.equal(await counts(), 3);
    assert.equal(await counts({ types: ['identify'] }), 1);
    assert.equal(await counts({ events: ['A', 'after'] }), 1);
    assert.equal(await counts({ userIds: ['u2'] }), 2);
    assert.equal(await counts({ userIds: ['u2'], types: ['track'] }), 1);
    await ended(stack, `/replays/${(await start(scene, { from, to, filter: { userIds: ['u2'] } })).id}`);
    await until(() => receiver.received.length === 7);
  });

  test('is never ahead of its rate and at most 5 % behind, stops within 2 s, and goes on where it was', async () => {
    await using receiver = await openReceiver();
    const scene = await addScene(stack, receiver.url);
    await sendAll(scene, tracks(2_000), 500);
    await until(() => receiver.received.length === 2_000);
    const startedAt = performance.now();
    const { id } = await start(scene, { ratePerSecond: 200 });
    const look = () => stack.get<Job>('GET', `/replays/${id}`);
    const steps = await stepsUntil(look, 1_000);
    for (const { at, done } of steps) {
      const most = ((at - startedAt) * 200) / 1_000;
      assert.ok(done <= most, `${done} after ${at - startedAt} ms`);
    }
    assert.ok(bestPerSecond(steps) >= 190, `${bestPerSecond(steps)} a second`);

    const paused = await stopped(() => stack.get('POST', `/replays/${id}/pause`), { look, receiver });
    assert.equal(paused.state, 'paused');
    assert.equal(receiver.received.length - 2_000, paused.progress.done);

    await stack.get('POST', `/replays/${id}/resume`);
    await until(() => receiver.received.length - 2_000 > paused.progress.done);
    await stack.restart();
    await until(async () => (await look()).progress.done > paused.progress.done + 300);
    const cancelled = await stopped(() => stack.get('POST', `/replays/${id}/cancel`), { look, receiver });
    assert.equal(cancelled.state, 'cancelled');
    assert.equal((await stack.ask('POST', `/replays/${id}/resume`)).status, 409);
  });

  test('waits while the destination is not there, and does not fill its lane', async () => {
    const state = { isDown: false };
    await using receiver = await openReceiver((_, response) => void response.writeHead(state.isDown ? 503 : 200).end());
    const scene = await addScene(stack, receiver.url);
    await sendAll(scene, tracks(4_000), 500);
    await until(() => receiver.received.length === 4_000);
    state.isDown = true;
    const { id } = await start(scene);
    let waiting: Job | undefined;
    await until(async () => {
      waiting = await stack.get<Job>('GET', `/replays/${id}`);
      return waiting.problem !== null;
    });
    assert.match(waiting?.problem ?? '', /caught up/);
    assert.ok((waiting?.progress.done ?? 4_000) < 4_000, `${waiting?.progress.done} in the lane`);
    await stack.get('POST', `/replays/${id}/cancel`);
  });

  test('is refused when the destination is not of the source, or the range is empty', async () => {
    await using receiver = await openReceiver();
    const one = await addScene(stack, receiver.url);
    const other = await addScene(stack, receiver.url);
    const mixed = rangeOf({ ...one, destinationId: other.destinationId });
    assert.equal((await stack.ask('POST', '/replays', mixed)).status, 400);
    const now = new Date().toISOString();
    assert.equal((await stack.ask('POST', '/replays/preview', rangeOf(one, { from: now, to: now }))).status, 400);
  });
});
