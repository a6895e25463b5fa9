/** Each reason why an event is not sent, with every role and both engines: explain names it. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Explanation } from '@millrace/contract/control';
import { openReceiver } from '../testing/receiver.ts';
import { addDestination, addScene, openStack, type Scene, type Stack } from '../testing/stack.ts';
import { track } from '../testing/samples.ts';
import { until } from '../testing/until.ts';

type Told = Explanation['destinations'][number];
type Receiver = Awaited<ReturnType<typeof openReceiver>>;

const PRO = { field: 'properties.plan', op: 'equals', value: 'pro' };

let stack: Stack;
let receiver: Receiver;
let scene: Scene;
before(async () => {
  stack = await openStack();
  receiver = await openReceiver();
  scene = await addScene(stack, receiver.url);
});
after(async () => {
  await receiver[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

/** The record of the event and the destination, as soon as there is one. */
async function toldOf(messageId: string, destinationId = scene.destinationId): Promise<Told> {
  let told: Told | undefined;
  await until(async () => {
    told = await saidOf(messageId, destinationId);
    return told !== undefined;
  });
  return told ?? assert.fail();
}

async function saidOf(messageId: string, destinationId: string): Promise<Told | undefined> {
  const { destinations } = await stack.get<Explanation>('GET', `/events/${encodeURIComponent(messageId)}/explain`);
  return destinations.find((each) => each.destinationId === destinationId);
}

suite('explain names the reason of a skip', () => {
  test('filtered: which rule did not hold', async () => {
    const path = `/destinations/${scene.destinationId}`;
    await stack.get('PATCH', path, { filters: [{ field: 'type', op: 'equals', value: 'track' }, PRO] });
    await until(async () => {
      await stack.send(scene.writeKey, [track('probe', { messageId: crypto.randomUUID() })]);
      const { items } = await stack.get<{ items: Told[] }>('GET', '/deliveries?state=skipped');
      return items.length > 0;
    });
    const before = receiver.received.length;
    await stack.send(scene.writeKey, [
      track('stopped', { properties: { plan: 'free' } }),
      track('passed', { properties: { plan: 'pro' } }),
    ]);
    const told = await toldOf('m-stopped');
    assert.deepEqual([told.state, told.reason, told.rule], ['skipped', 'filtered', 'properties.plan equals "pro"']);
    const why = 'Not sent: the destination\'s filter asks for events where properties.plan equals "pro".';
    assert.deepEqual(told.story, [why]);
    assert.equal((await toldOf('m-passed')).state, 'delivered');
    const events = receiver.received.slice(before).map(({ body }) => (JSON.parse(body) as { event: string }).event);
    assert.deepEqual(events, ['passed']);
  });

  test('filtered, also by a replay; a notification of deletion is never filtered', async () => {
    const range = { from: '2026-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
    const asked = { sourceId: scene.sourceId, destinationId: scene.destinationId, ...range };
    type Preview = { count: number; skipped: Record<string, number>; first: { event: string }[] };
    const preview = await stack.get<Preview>('POST', '/replays/preview', asked);
    assert.deepEqual([preview.count, preview.first[0]?.event], [1, 'passed']);
    assert.ok((preview.skipped['filtered'] ?? 0) >= 2);
    const before = receiver.received.length;
    await stack.get('POST', '/deletion-requests', { userIds: ['nobody'], sources: [scene.sourceId] });
    await until(() => receiver.received.length > before);
    assert.match(receiver.received.at(-1)?.body ?? '', /^\{"type":"delete","userId":"nobody"/);
    await stack.get('PATCH', `/destinations/${scene.destinationId}`, { filters: [] });
  });

  test('destination_disabled, integrations_map and blocked_event', async () => {
    const offId = await addDestination(stack, scene.sourceId, { targets: [{ url: receiver.url }] });
    await stack.get('PATCH', `/destinations/${offId}`, { enabled: false });
    await stack.get('POST', `/sources/${scene.sourceId}/events`, { name: 'Blocked', blocked: true });
    await until(async () => {
      const messageId = crypto.randomUUID();
      await stack.send(scene.writeKey, [track('Blocked', { messageId })]);
      return (await toldOf(messageId)).reason === 'blocked_event';
    });
    const unwanted = { integrations: { Webhooks: false } };
    await stack.send(scene.writeKey, [track('off'), track('unwanted', unwanted), track('Blocked')]);
    const off = await toldOf('m-off', offId);
    assert.deepEqual([off.reason, off.story], ['destination_disabled', ['Not sent: the destination was not enabled.']]);
    const left = await toldOf('m-unwanted');
    assert.equal(left.reason, 'integrations_map');
    assert.match(left.story.join(), /integrations map turns this kind of destination off/);
    const blocked = await toldOf('m-Blocked');
    assert.equal(blocked.reason, 'blocked_event');
    assert.match(blocked.story.join(), /the event "Blocked" is blocked in the source's schema/);
  });

  test('no skip: what is for a kind of destination that this version does not know waits for one that does', async () => {
    const id = await addDestination(stack, scene.sourceId, { targets: [{ url: receiver.url }] });
    await stack.sql(`UPDATE destinations SET catalog = 'Elsewhere' WHERE id = $1`, [id]);
    await stack.sql(
      `INSERT INTO outbox (workspace_id, kind, object_id) SELECT workspace_id, 'destination', id FROM destinations WHERE id = $1`,
      [id],
    );
    await until(() => stack.view().destination(id)?.catalog === 'Elsewhere');
    await stack.send(scene.writeKey, [track('elsewhere')]);
    const told = await toldOf('m-elsewhere', id);
    assert.equal(told.state, 'pending', told.story.join());
    assert.equal((await toldOf('m-elsewhere')).state, 'delivered', 'the other one gets it');
  });
});
