/** Stored events delivered anew, with every role and both engines. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openReceiver } from '../testing/receiver.ts';
import { addScene, ended, type Job, openStack, type Scene, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';
import { track, tracks } from '../testing/samples.ts';

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
const start = (scene: Scene, change: object = {}) => stack.get<Job>('POST', '/replays', rangeOf(scene, change));

/** In several requests, which are in both event streams then. */
async function sendAll(scene: Scene, calls: object[], atOnce = 50): Promise<void> {
  for (let first = 0; first < calls.length; first += atOnce) {
    assert.equal(await stack.send(scene.writeKey, calls.slice(first, first + atOnce)), 200);
  }
}

type Look = () => Promise<Job>;

/** The next change of the progress, and when it was seen. */
async function nextStep(look: Look): Promise<{ at: number; done: number }> {
  const before = (await look()).progress.done;
  let done = before;
  await until(async () => {
    ({ done } = (await look()).progress);
    return done !== before;
  });
  return { at: performance.now(), done };
}

/** The job when all that it made has come: within 2 s of the asking, and nothing after that. */
async function stopped(
  ask: () => Promise<unknown>,
  { look, receiver }: { look: Look; receiver: Receiver },
): Promise<Job> {
  await ask();
  const askedAt = Date.now();
  await sleep(2_500);
  let job = await look();
  await until(async () => {
    job = await look();
    return job.state !== 'running' && new Set(idsOf(receiver, 2_000)).size === job.progress.done;
  });
  const lastMs = (receiver.received.at(-1)?.at ?? 0) - askedAt;
  assert.ok(lastMs < 2_000, `the last came ${lastMs} ms after it was asked to be ${job.state}`);
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
    const { items } = await stack.get<{ items: { action: string; objectId: string }[] }>('GET', '/audit-log');
    assert.ok(items.some(({ action, objectId }) => action === 'replay.started' && objectId === job.id));
  });

  test('takes what was received in the range and fits the filter, and nothing else', async () => {
    await using receiver = await openReceiver();
    const scene = await addScene(stack, receiver.url);
    await sendAll(scene, [track('before')]);
    await sleep(50);
    const from = new Date().toISOString();
    const people = [track('A'), track('B', { userId: 'u2' }), { type: 'identify', userId: 'u2', messageId: 'm-i' }];
    await sendAll(scene, people, 2);
    await sleep(50);
    const to = new Date().toISOString();
    await sleep(50);
    await sendAll(scene, [track('after')]);
    const counts = async (filter?: object) => {
      const body = rangeOf(scene, { from, to, ...(filter && { filter }) });
      return (await stack.get<Preview>('POST', '/replays/preview', body)).count;
    };
    assert.equal(await counts(), 3);
    assert.equal(await counts({ types: ['identify'] }), 1);
    assert.equal(await counts({ events: ['A', 'after'] }), 1);
    assert.equal(await counts({ userIds: ['u2'] }), 2);
    assert.equal(await counts({ userIds: ['u2'], types: ['track'] }), 1);
    await until(() => receiver.received.length === 5);
    await ended(stack, `/replays/${(await start(scene, { from, to, filter: { userIds: ['u2'] } })).id}`);
    await until(() => receiver.received.length === 7);
  });

  test('keeps to its rate within 5 %, stops within 2 s, and goes on where it was', async () => {
    await using receiver = await openReceiver();
    const scene = await addScene(stack, receiver.url);
    await sendAll(scene, tracks(2_000), 500);
    await until(() => receiver.received.length === 2_000, 30_000);
    const { id } = await start(scene, { ratePerSecond: 200 });
    const look = () => stack.get<Job>('GET', `/replays/${id}`);
    // It moves in steps: measured from one to another.
    const first = await nextStep(look);
    await sleep(4_000);
    const last = await nextStep(look);
    const perSecond = ((last.done - first.done) * 1_000) / (last.at - first.at);
    assert.ok(Math.abs(perSecond - 200) <= 10, `${perSecond} a second`);

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
    await until(() => receiver.received.length === 4_000, 30_000);
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
