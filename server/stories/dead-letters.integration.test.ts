/** Dead letters, looked at and given another chance over the API, with every role and both engines. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { answer, openReceiver } from '../testing/receiver.ts';
import { addScene, ended, type Job, openStack, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';
import { track, tracks } from '../testing/samples.ts';

type Item = { id: string; deliveryId: string; reason: string; messageId: string; attempts: number; deadAt: string };
type Page = { items: Item[]; nextCursor: string | null };

let stack: Stack;
before(async () => void (stack = await openStack()));
after(() => stack[Symbol.asyncDispose]());

async function letters(destinationId: string, more = ''): Promise<Item[]> {
  return (await stack.get<Page>('GET', `/dead-letters?limit=100&destinationId=${destinationId}${more}`)).items;
}

/** A receiver that refuses everything until it is told to be good. */
async function openRefuser() {
  const state = { isGood: false };
  const receiver = await openReceiver((one, response) => answer(state.isGood ? 200 : 400)(one, response));
  return Object.assign(receiver, { state });
}

suite('a dead letter', () => {
  test('is listed with its reason, shown with its history, and delivered anew with the same webhook-id', async () => {
    await using receiver = await openRefuser();
    const { destinationId, writeKey } = await addScene(stack, receiver.url);
    await stack.send(writeKey, [track('refused')]);
    await until(async () => (await letters(destinationId)).length === 1);
    const [letter] = await letters(destinationId);
    assert.ok(letter !== undefined);
    assert.deepEqual([letter.reason, letter.messageId, letter.attempts], ['discarded', 'm-refused', 1]);
    type Details = { event: { userId: string }; history: { answers: { status: number }[] }[] };
    const details = await stack.get<Details>('GET', `/dead-letters/${letter.id}`);
    assert.equal(details.event.userId, 'u1');
    assert.deepEqual(
      details.history.map(({ answers }) => answers[0]?.status),
      [400],
    );
    receiver.state.isGood = true;
    await stack.get('POST', `/dead-letters/${letter.id}/retry`);
    await until(() => receiver.received.length === 2);
    const [first, second] = receiver.received;
    assert.equal(second?.headers['webhook-id'], first?.headers['webhook-id']);
    assert.match(String(first?.headers['x-millrace-order']), /^\d{13}-\d\d-\d{15}-\d{4}$/);
    assert.equal(second?.headers['x-millrace-order'], first?.headers['x-millrace-order']);
    assert.equal(second?.headers['x-millrace-attempt'], '1');
    assert.equal(second?.body, first?.body);
    assert.equal((await stack.ask('GET', `/dead-letters/${letter.id}`)).status, 404);
    const { items } = await stack.get<{ items: { action: string; objectId: string }[] }>('GET', '/audit-log');
    assert.ok(items.some(({ action, objectId }) => action === 'dead_letter.retried' && objectId === letter.id));
  });

  test('that is refused once more right away is a dead letter again, not lost as a duplicate', async () => {
    await using receiver = await openRefuser();
    const { destinationId, writeKey } = await addScene(stack, receiver.url);
    await stack.send(writeKey, [track('refused')]);
    await until(async () => (await letters(destinationId)).length === 1);
    const [letter] = await letters(destinationId);
    await stack.get('POST', `/dead-letters/${letter?.id}/retry`);
    await until(() => receiver.received.length === 2);
    await until(async () => (await letters(destinationId)).length === 1);
    const [again] = await letters(destinationId);
    assert.notEqual(again?.id, letter?.id);
    assert.equal(again?.deliveryId, letter?.deliveryId);
  });

  test('is found by reason and by time, and by nobody who asks for another destination', async () => {
    await using receiver = await openRefuser();
    const { destinationId, writeKey } = await addScene(stack, receiver.url);
    await stack.send(writeKey, tracks(3));
    await until(async () => (await letters(destinationId)).length === 3);
    assert.equal((await letters(destinationId, '&reason=expired')).length, 0);
    assert.equal((await letters(destinationId, '&reason=discarded')).length, 3);
    const anHour = 3_600_000;
    const [later, sooner] = [new Date(Date.now() + anHour), new Date(Date.now() - anHour)].map((at) =>
      at.toISOString(),
    );
    assert.equal((await letters(destinationId, `&from=${later}`)).length, 0);
    assert.equal((await letters(destinationId, `&from=${sooner}&to=${later}`)).length, 3);
    assert.equal((await stack.ask('GET', '/dead-letters?destinationId=dst_none')).status, 404);
    const first = await stack.get<Page>('GET', `/dead-letters?limit=2&destinationId=${destinationId}`);
    const rest = await stack.get<Page>(
      'GET',
      `/dead-letters?limit=2&destinationId=${destinationId}&cursor=${first.nextCursor}`,
    );
    assert.deepEqual([first.items.length, rest.items.length, rest.nextCursor], [2, 1, null]);
  });
});

suite('re-driving', () => {
  test('delivers each letter that matches once, and tells how far it is', async () => {
    await using receiver = await openRefuser();
    const { destinationId, writeKey } = await addScene(stack, receiver.url);
    await stack.send(writeKey, tracks(500));
    await until(() => receiver.received.length === 500);
    await until(async () => (await stack.deadLetterCount(destinationId)) === 500);
    receiver.state.isGood = true;
    const started = await stack.get<Job>('POST', '/dead-letters/redrive', { destinationId, reason: 'discarded' });
    const job = await ended(stack, `/redrives/${started.id}`);
    assert.deepEqual([job.state, job.progress], ['done', { done: 500, total: 500, skipped: {} }]);
    await until(() => receiver.received.length === 1_000);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    assert.deepEqual(new Set(ids.slice(500)), new Set(ids.slice(0, 500)));
    assert.equal(new Set(ids.slice(500)).size, 500);
    assert.equal(await stack.deadLetterCount(destinationId), 0);
  });

  test('of nothing ends at once, and what has ended cannot be held', async () => {
    await using receiver = await openRefuser();
    const { destinationId } = await addScene(stack, receiver.url);
    const started = await stack.get<Job>('POST', '/dead-letters/redrive', { destinationId });
    assert.equal((await ended(stack, `/redrives/${started.id}`)).progress.total, 0);
    assert.equal((await stack.ask('POST', `/redrives/${started.id}/pause`)).status, 409);
  });
});
