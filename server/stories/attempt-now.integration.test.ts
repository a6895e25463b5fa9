/** People ask for an attempt before its time, over the control API. With every role. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { AttemptNow, RetryNow } from '@millrace/contract/control';
import { Value } from 'typebox/value';
import { answer, openReceiver } from '../testing/receiver.ts';
import { addScene, openStack, type Scene, type Stack } from '../testing/stack.ts';
import { track } from '../testing/samples.ts';
import { until } from '../testing/until.ts';

type Delivery = { id: string; state: string; attempts: number; nextAt: string | null };
type Problem = { code: string; errors?: { message: string }[] };

const MINUTE = 60_000;

/** A delivery that failed waits for minutes, so nothing but the request of a person explains an attempt before. */
const SLOW = { retryScale: 0.05 };

let stack: Stack;
before(async () => void (stack = await openStack({}, SLOW)));
after(() => stack[Symbol.asyncDispose]());

async function deliveriesOf({ destinationId }: Scene): Promise<Delivery[]> {
  return (await stack.get<{ items: Delivery[] }>('GET', `/deliveries?destinationId=${destinationId}`)).items;
}
async function stateOf(scene: Scene, state: string): Promise<Delivery> {
  await until(async () => (await deliveriesOf(scene)).some((one) => one.state === state), MINUTE);
  const found = (await deliveriesOf(scene)).find((one) => one.state === state);
  assert.ok(found !== undefined);
  return found;
}
const whyNot = async (path: string) => {
  const { status, body } = await stack.ask<Problem>('POST', path);
  return `${status} ${body.code} ${body.errors?.[0]?.message ?? ''}`;
};

suite('an attempt that a person asks for', () => {
  test('is made at once for a delivery that waits, which is delivered once', { timeout: 3 * MINUTE }, async () => {
    let isDown = true;
    await using receiver = await openReceiver((one, response) => answer(isDown ? 500 : 200)(one, response));
    const scene = await addScene(stack, receiver.url);
    await stack.send(scene.writeKey, [track('one')]);
    const { id, nextAt } = await stateOf(scene, 'retrying');
    isDown = false;
    const asked = await stack.get<RetryNow>('POST', `/deliveries/${id}/retry`);
    assert.deepEqual([...Value.Errors(RetryNow, asked)], []);
    assert.deepEqual([asked.effect, asked.ahead, asked.isAheadExact, asked.isProbe], ['hurried', 0, true, false]);
    assert.match(asked.sentence, /^Deliver attempts this delivery now/);
    await until(() => receiver.received.length === 2, MINUTE);
    assert.ok((receiver.received[1]?.at ?? Infinity) < Date.parse(nextAt ?? ''), 'before its time');
    await stateOf(scene, 'delivered');
    assert.equal(receiver.received.length, 2);
    assert.match(await whyNot(`/deliveries/${id}/retry`), /^409 not_waiting It is delivered\./);
    const { items } = await stack.get<{ items: { action: string; objectId: string }[] }>('GET', '/audit-log');
    assert.ok(items.some(({ action, objectId }) => action === 'delivery.retried' && objectId === id));
  });

  test('is made although the ticket of the lane was lost', { timeout: 3 * MINUTE }, async () => {
    let isDown = true;
    await using receiver = await openReceiver((one, response) => answer(isDown ? 500 : 200)(one, response));
    const scene = await addScene(stack, receiver.url);
    await stack.send(scene.writeKey, [track('one')]);
    const { id } = await stateOf(scene, 'retrying');
    isDown = false;
    // As when it was unreadable: deliver looks for lanes without a ticket every ten minutes.
    const { purged } = await stack.manager.streams.purge('TICKETS', { filter: `tickets.at.${scene.destinationId}` });
    assert.equal(purged, 1);
    const asked = await stack.get<RetryNow>('POST', `/deliveries/${id}/retry`);
    assert.equal(asked.effect, 'hurried');
    await stateOf(scene, 'delivered');
    assert.equal(receiver.received.length, 2);
  });

  test('is made once for ten callers, and the others learn when to ask again', { timeout: 3 * MINUTE }, async () => {
    await using receiver = await openReceiver(answer(500));
    const scene = await addScene(stack, receiver.url);
    await stack.send(scene.writeKey, [track('one')]);
    await stateOf(scene, 'retrying');
    const ask = () => stack.ask<Problem>('POST', `/destinations/${scene.destinationId}/probe`);
    const answers = await Promise.all(Array.from({ length: 10 }, ask));
    const codes = answers.map(({ status, body }) => `${status} ${body.code ?? ''}`);
    // A workspace has four costly requests of one token at a time; the clock may step into the next five seconds.
    const done = codes.filter((code) => code === '200 ');
    assert.ok(done.length >= 1 && done.length <= 2, codes.join(', '));
    for (const code of codes) assert.match(code, /^200 |^429 too_soon|^429 too_many_questions/);
    const first = answers.find(({ status }) => status === 200)?.body;
    assert.deepEqual([...Value.Errors(AttemptNow, first)], []);
    await until(() => receiver.received.length >= 2, MINUTE);
    assert.ok(receiver.received.length <= 1 + done.length);
  });

  test('is refused with a reason where nothing may be sent', { timeout: 3 * MINUTE }, async () => {
    let status = 500;
    await using receiver = await openReceiver((one, response) =>
      answer(status, status === 429 ? { 'Retry-After': '600' } : {})(one, response),
    );
    const scene = await addScene(stack, receiver.url);
    const probe = `/destinations/${scene.destinationId}/probe`;
    assert.match(await whyNot(probe), /^409 not_waiting Nothing waits/);
    await stack.send(scene.writeKey, [track('one')]);
    const { id } = await stateOf(scene, 'retrying');
    const retry = `/deliveries/${id}/retry`;
    await stack.get('PATCH', `/destinations/${scene.destinationId}`, { paused: true });
    assert.match(await whyNot(retry), /^409 not_waiting The destination is paused/);
    assert.match(await whyNot(probe), /^409 not_waiting The destination is paused/);
    status = 429;
    // The first of these requests makes the attempt that the receiver answers so.
    await stack.get('PATCH', `/destinations/${scene.destinationId}`, { paused: false });
    await until(
      async () => (await whyNot(retry)).startsWith('409 not_waiting The receiver asked us to wait, until 20'),
      MINUTE,
    );
    await stack.get('PATCH', `/destinations/${scene.destinationId}`, { enabled: false });
    assert.match(await whyNot(probe), /^409 not_waiting The destination is not enabled/);
    await stack.get('DELETE', `/destinations/${scene.destinationId}`);
    assert.match(await whyNot(retry), /^409 not_waiting The destination was deleted/);
    assert.match(await whyNot('/deliveries/dlv_none/retry'), /^404 not_found/);
  });

  test('of a delivery that was given up points to its dead letter', { timeout: 2 * MINUTE }, async () => {
    await using receiver = await openReceiver(answer(410));
    const scene = await addScene(stack, receiver.url);
    await stack.send(scene.writeKey, [track('one')]);
    const { id } = await stateOf(scene, 'discarded');
    assert.match(await whyNot(`/deliveries/${id}/retry`), /^409 not_waiting .*retried as a dead letter/);
  });
});
