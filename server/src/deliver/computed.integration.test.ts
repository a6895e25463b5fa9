import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type Bed, openBed } from '../../testing/deliver-bed.ts';
import { answer, openReceiver } from '../../testing/receiver.ts';
import { until } from '../../testing/until.ts';
import { deliveryId } from '../domain/delivery.ts';

/** It is in no configuration: its calls may come before its entry does. */
const SOURCE = 'src_computed';

const identify = (userId: string, change: object = {}) => ({
  type: 'identify',
  messageId: `m-${userId}`,
  userId,
  traits: { big_spenders: true },
  ...change,
});

async function append(bed: Bed, destinations: string[], ...calls: object[]): Promise<void> {
  const computed = { workspaceId: 'ws_1', destinations };
  const envelope = {
    shape: 'batch',
    receivedAt: new Date().toISOString(),
    requestId: `c-${calls.length}`,
    computed,
    v: 2,
  };
  await bed.publish(`events.0.${SOURCE}`, JSON.stringify({ batch: calls }), {
    'Millrace-Request': JSON.stringify(envelope),
  });
}

async function openScene(status = 200) {
  await using opening = new AsyncDisposableStack();
  const bed = opening.use(await openBed());
  const one = opening.use(await openReceiver(answer(status)));
  const two = opening.use(await openReceiver());
  const rules = [{ field: 'userId', op: 'equals' as const, value: 'u1' }];
  await bed.putDestination({ id: 'dst_1', settings: { targets: [{ url: one.url }] } });
  await bed.putDestination({ id: 'dst_2', filters: rules, settings: { targets: [{ url: two.url }] } });
  await bed.putDestination({ id: 'dst_off', enabled: false, settings: { targets: [{ url: two.url }] } });
  const open = opening.move();
  const usersOf = (receiver: typeof one) => receiver.received.map(({ body }) => (JSON.parse(body) as Got).userId);
  return {
    bed,
    one,
    two,
    usersOf,
    /** The record of one destination's deliveries. */
    async recorded(destinationId: string) {
      const lines = (await bed.textOf('OUTCOMES')).split('\n').filter((line) => line !== '');
      const entries = lines.flatMap((line) => (JSON.parse(line) as { entries: Recorded[] }).entries);
      return entries.filter((entry) => entry.destinationId === destinationId);
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

type Got = { userId: string };
type Recorded = { destinationId: string; sourceId: string; kind: string; reason?: string; deliveryId: string };

suite('computed requests', () => {
  test('reach the destinations that they are for and no others, through filters and switches', async () => {
    await using scene = await openScene();
    const { bed, one, two, usersOf } = scene;
    await using _ = await bed.deliver();
    await append(bed, ['dst_2', 'dst_off', 'dst_gone'], identify('u1'), identify('u2'));
    await until(async () => (await bed.unsettled()) === 0);
    assert.deepEqual([usersOf(one), usersOf(two)], [[], ['u1']]);
    const filtered = (await scene.recorded('dst_2')).find(({ kind }) => kind === 'skipped');
    assert.equal(filtered?.reason, 'filtered');
    const off = await scene.recorded('dst_off');
    assert.deepEqual(off.map(({ reason }) => reason), ['destination_disabled', 'destination_disabled']); // biome-ignore format: short
    assert.ok([filtered, ...off].every((entry) => entry?.sourceId === SOURCE));
  });

  test('are recorded under their own source, also after they waited in a lane and became a dead letter', async () => {
    await using scene = await openScene(400);
    const { bed } = scene;
    await bed.putDestination({ id: 'dst_1', paused: true, settings: { targets: [{ url: scene.one.url }] } });
    await using _ = await bed.deliver();
    await append(bed, ['dst_1'], identify('u1'));
    await until(async () => (await scene.recorded('dst_1')).some(({ kind }) => kind === 'waiting'));
    await bed.putDestination({ id: 'dst_1', settings: { targets: [{ url: scene.one.url }] } });
    await until(async () => (await bed.deadLetterCount('dst_1')) === 1);
    await until(async () => (await scene.recorded('dst_1')).length === 2);
    const entries = await scene.recorded('dst_1');
    const id = deliveryId('dst_1', SOURCE, 'm-u1');
    assert.deepEqual(entries.map((entry) => [entry.sourceId, entry.deliveryId]), [[SOURCE, id], [SOURCE, id]]); // biome-ignore format: short
    const [letter] = await bed.deadLetters();
    assert.equal(letter?.delivery.sourceId, SOURCE);
    assert.equal(scene.one.received[0]?.headers['webhook-id'], id);
  });

  test('wait for a destination whose entry cannot be acted on, and are sent when it can', async () => {
    await using scene = await openScene();
    const { bed, one, usersOf } = scene;
    await bed.putEntry('dst_1', { v: 9, workspaceId: 'ws_1', sourceId: 'src_1' });
    await using _ = await bed.deliver();
    await append(bed, ['dst_1'], identify('u1'));
    await until(async () => (await bed.unsettled()) === 0 && Object.keys(await bed.laneGroups()).length === 1);
    await bed.putDestination({ id: 'dst_1', settings: { targets: [{ url: one.url }] } });
    await until(() => usersOf(one).length === 1);
    assert.deepEqual((await scene.recorded('dst_1')).at(-1)?.sourceId, SOURCE);
  });
});
