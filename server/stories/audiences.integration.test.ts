import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Definition } from '@millrace/contract/audiences';
import { addDefinition } from '../testing/definitions.ts';
import { openReceiver } from '../testing/receiver.ts';
import { addDestination, addScene, openStack, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

const BIG_SPENDERS: Definition = {
  name: 'Big spenders',
  kind: 'audience',
  when: { event: 'Order Completed', sum: 'properties.revenue', window: '30d', atLeast: 500 },
};

type Identify = {
  type: string;
  userId: string;
  traits: Record<string, unknown>;
  context: { personas: Record<string, unknown> };
};

const order = (userId: string, revenue: number, messageId: string) => ({
  type: 'track',
  event: 'Order Completed',
  userId,
  messageId,
  properties: { revenue },
});

async function openAudience() {
  await using opening = new AsyncDisposableStack();
  const stack = opening.use(await openStack());
  const shop = opening.use(await openReceiver());
  const audience = opening.use(await openReceiver());
  const scene = await addScene(stack, shop.url);
  const other = await addDestination(stack, scene.sourceId, {
    targets: [{ url: audience.url }],
  });
  // Nothing but identify calls reach it: the calls of the shop go to it as well.
  const [row] = await stack.sql<{ workspace_id: string }>('SELECT workspace_id FROM sources');
  const workspaceId = row?.workspace_id ?? '';
  const id = await addDefinition(stack.store(), {
    workspaceId,
    key: 'big_spenders',
    destinations: [other],
    definition: BIG_SPENDERS,
  });
  const got = () => audience.received.map(({ body }) => JSON.parse(body) as Identify);
  const identifies = () => got().filter(({ type }) => type === 'identify');
  await until(async () => (await positions(stack)) > 0);
  const open = opening.move();
  return {
    stack,
    scene,
    shop,
    workspaceId,
    id,
    identifies,
    audience,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

const positions = async (stack: Stack) =>
  (await stack.sql(`SELECT stream FROM compute_positions WHERE stream <> 'relay' AND sequence IS NOT NULL`)).length;

suite('an audience', () => {
  test('tells its destinations, and no others, when a user enters it', async () => {
    await using bed = await openAudience();
    const { stack, scene, id, workspaceId } = bed;
    assert.equal(await stack.send(scene.writeKey, [order('u1', 300, 'o1'), order('u2', 100, 'o2')]), 200);
    assert.equal(await stack.send(scene.writeKey, [order('u1', 250, 'o3'), order('u1', 250, 'o3')]), 200);
    await until(() => bed.identifies().length === 1);
    const [told] = bed.identifies();
    assert.equal(told?.userId, 'u1');
    assert.deepEqual(told?.traits, { big_spenders: true });
    assert.deepEqual(told?.context.personas, {
      computation_class: 'audience',
      computation_id: id,
      computation_key: 'big_spenders',
      space_id: workspaceId,
      sequence: 1,
    });
    assert.ok(bed.shop.received.every(({ body }) => (JSON.parse(body) as Identify).type === 'track'));
    const usage = await stack.sql<{ calls: string }>('SELECT calls FROM usage');
    await until(async () => (await stack.sql('SELECT 1 FROM usage')).length > 0 || usage.length > 0);
  });

  test('goes on where it was after a restart, and sends nothing twice', async () => {
    await using bed = await openAudience();
    const { stack, scene } = bed;
    await stack.send(scene.writeKey, [order('u1', 300, 'o1')]);
    await until(async () => (await stack.sql('SELECT 1 FROM profiles')).length === 1);
    await stack.restart();
    await until(async () => (await stack.send(scene.writeKey, [order('u1', 300, 'o2')])) === 200);
    await until(() => bed.identifies().length === 1);
    await stack.restart();
    await until(async () => (await stack.send(scene.writeKey, [order('u9', 900, 'o9')])) === 200);
    await until(() => bed.identifies().length === 2);
    assert.deepEqual(
      bed.identifies().map(({ userId }) => userId),
      ['u1', 'u9'],
    );
  });
});
