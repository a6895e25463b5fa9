/** The request of a past attempt, rebuilt from the stored event. With every role. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type RebuiltRequest, RebuiltRequest as Schema } from '@millrace/contract/control';
import { Value } from 'typebox/value';
import { answer, openReceiver, type Received } from '../testing/receiver.ts';
import { addScene, openStack, type Scene, type Stack } from '../testing/stack.ts';
import { track } from '../testing/samples.ts';
import { until } from '../testing/until.ts';

type Problem = { code: string; errors?: { path: string; message: string }[] };
const MINUTE = 60_000;
const SECRET = 'a shared secret of the owner';
const OWN = 'Bearer clear-header-value-1';

let stack: Stack;
before(async () => void (stack = await openStack({ MILLRACE_RETRY_SCALE: '20' })));
after(() => stack[Symbol.asyncDispose]());

async function attempted(scene: Scene, attempts: number): Promise<string> {
  type Items = { items: { id: string; attempts: number }[] };
  let id = '';
  await until(async () => {
    const { items } = await stack.get<Items>('GET', `/deliveries?destinationId=${scene.destinationId}`);
    id = items[0]?.id ?? '';
    return (items[0]?.attempts ?? 0) >= attempts;
  }, MINUTE);
  return id;
}
async function rebuilt(id: string, query = ''): Promise<RebuiltRequest> {
  const body = await stack.get<RebuiltRequest>('GET', `/deliveries/${id}/request${query}`);
  assert.deepEqual([...Value.Errors(Schema, body)], []);
  return body;
}
const refused = async (id: string, query = '') => {
  const { status, body } = await stack.ask<Problem>('GET', `/deliveries/${id}/request${query}`);
  return `${status} ${body.code} ${body.errors?.[0]?.message ?? ''}`;
};
/** Node's receiver has the names in lower case. */
const headersOf = ({ request }: RebuiltRequest) =>
  new Map(request.headers.map(({ name, value }) => [name.toLowerCase(), value]));

function assertSame(shown: RebuiltRequest, sent: Received): void {
  assert.equal(shown.request.body, sent.body);
  const headers = headersOf(shown);
  for (const [name, value] of Object.entries(sent.headers)) {
    if (name === 'connection') continue;
    assert.equal(headers.get(name), name === 'authorization' ? null : value, name);
  }
}

suite('the request of a past attempt', () => {
  test('is byte for byte the one that was sent, but for the owner’s headers', { timeout: 3 * MINUTE }, async () => {
    let answered = 0;
    await using receiver = await openReceiver((one, response) =>
      answer((answered += 1) === 3 ? 200 : 500)(one, response),
    );
    const targets = [{ url: receiver.url, headers: { Authorization: OWN } }];
    const scene = await addScene(stack, receiver.url, { targets, sharedSecret: SECRET });
    await stack.send(scene.writeKey, [track('other'), track('one with "quotes" and ümlauts')]);
    await attempted(scene, 1);
    await until(() => receiver.received.length >= 4, MINUTE);
    const [first] = receiver.received;
    const id = String(first?.headers['webhook-id']);
    for (const attempt of [1, 2]) {
      await until(
        async () => (await stack.ask('GET', `/deliveries/${id}/request?attempt=${attempt}`)).status === 200,
        MINUTE,
      );
      const shown = await rebuilt(id, `?attempt=${attempt}`);
      const sent = receiver.received.filter(({ headers }) => headers['webhook-id'] === id)[attempt - 1];
      assert.ok(sent !== undefined);
      assertSame(shown, sent);
      assert.deepEqual([shown.attempt, shown.isRebuilt, shown.wasPosted, shown.mayDiffer], [attempt, true, true, []]);
      assert.doesNotMatch(JSON.stringify(shown), /clear-header-value|a shared secret/);
    }
  });

  test('shows its signatures only to those who may send tests', { timeout: 3 * MINUTE }, async () => {
    await using receiver = await openReceiver();
    const scene = await addScene(stack, receiver.url, { sharedSecret: SECRET });
    await stack.send(scene.writeKey, [track('one')]);
    const id = await attempted(scene, 1);
    const signed = ['webhook-signature', 'x-signature'];
    const shownTo = (shown: RebuiltRequest) => signed.map((name) => typeof headersOf(shown).get(name));
    assert.deepEqual(shownTo(await rebuilt(id)), ['string', 'string']);
    const { token } = await stack.get<{ token: string }>('POST', '/tokens', { name: 'A viewer', role: 'viewer' });
    const headers = { Authorization: `Bearer ${token}` };
    const answered = await fetch(`${stack.controlUrl()}/deliveries/${id}/request`, { headers });
    const shown = (await answered.json()) as RebuiltRequest;
    assert.equal(answered.status, 200, JSON.stringify(shown));
    assert.deepEqual([...Value.Errors(Schema, shown)], []);
    // The value is null: `x-signature` has no time in it, so a reader could send the event again and again.
    assert.deepEqual(shownTo(shown), ['object', 'object']);
    assert.equal(shown.request.body, receiver.received[0]?.body);
  });

  test('says what may have been different once the destination has changed', { timeout: 3 * MINUTE }, async () => {
    await using receiver = await openReceiver();
    await using other = await openReceiver();
    const scene = await addScene(stack, receiver.url, { sharedSecret: SECRET });
    await stack.send(scene.writeKey, [track('one')]);
    const id = await attempted(scene, 1);
    const settings = { targets: [{ url: other.url }] };
    await stack.get('PATCH', `/destinations/${scene.destinationId}`, { settings });
    const shown = await rebuilt(id);
    assert.deepEqual([shown.request.url, shown.wasPosted], [other.url, false]);
    assert.match(shown.sentence, /has changed since the attempt.*the signatures/);
    assert.equal(shown.mayDiffer.length, 4);
    assert.equal(other.received.length, 0, 'nothing is sent');
    assert.equal(receiver.received.length, 1);
  });

  test('is refused with a reason where it cannot be made', { timeout: 3 * MINUTE }, async () => {
    await using receiver = await openReceiver();
    const scene = await addScene(stack, receiver.url);
    await stack.send(scene.writeKey, [track('one')]);
    const id = await attempted(scene, 1);
    assert.match(await refused(id, '?attempt=7'), /^404 not_found the record has not attempt 7/);
    assert.match(await refused(id, '?targetIndex=1'), /^400 invalid_request must be below 1/);
    assert.match(await refused(id, '?targetIndex=9'), /^400 invalid_request/);
    assert.match(await refused('dlv_none'), /^404 not_found/);
    const { manager } = stack;
    for await (const { config } of manager.streams.list('events.>')) await manager.streams.purge(config.name);
    assert.match(await refused(id), /^410 event_gone Stored events are kept/);
    await stack.get('DELETE', `/destinations/${scene.destinationId}`);
    assert.match(await refused(id), /^410 event_gone The destination was deleted/);
  });

  test('of an erased user is not shown', { timeout: 3 * MINUTE }, async () => {
    await using receiver = await openReceiver();
    const scene = await addScene(stack, receiver.url);
    await stack.send(scene.writeKey, [{ ...track('one'), userId: 'u-to-erase' }]);
    const id = await attempted(scene, 1);
    await rebuilt(id);
    await stack.get('POST', '/deletion-requests', { userIds: ['u-to-erase'] });
    await until(async () => (await refused(id)).startsWith('410 event_gone'), MINUTE);
  });
});
