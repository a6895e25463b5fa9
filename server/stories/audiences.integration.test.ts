import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Condition } from '@millrace/contract/audiences';
import { allFolded, type Identify, openAudience, order } from '../testing/audiences.ts';
import { addDefinition } from '../testing/definitions.ts';
import { ended, type Job } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

type Source = { id: string; kind: string; writeKeys: unknown[] };
type Explained = { verdict: string; stored: { event?: unknown } | null; destinations: { state: string }[] };

suite('an audience', () => {
  suite('and its calls', () => {
    let bed: Awaited<ReturnType<typeof openAudience>>;
    before(async () => void (bed = await openAudience()));
    after(() => bed[Symbol.asyncDispose]());
    const toldOf = (id: string) =>
      bed.identifies().filter(({ userId, context }) => userId === id && context?.personas !== undefined);

    test('tells its destinations, and no others, when a user enters it, and counts it as nobody’s usage', async () => {
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
      type Usage = { source_id: string; calls: string };
      const usage = () => stack.sql<Usage>('SELECT source_id, calls FROM usage WHERE calls > 0');
      await until(async () => (await usage()).some(({ calls }) => calls === '4'));
      assert.deepEqual((await usage()).map(({ source_id }) => source_id), [scene.sourceId]); // biome-ignore format: short
    });

    test('does not cause another one, or itself, by the calls that it sends', async () => {
      const { stack, scene, workspaceId, destinationId } = bed;
      const store = stack.store();
      const add = (name: string, key: string, when: Condition) =>
        addDefinition(store, {
          workspaceId,
          key,
          destinations: [destinationId],
          definition: { name, kind: 'audience', when },
        });
      // Each asks for a trait that has the name of the other's key.
      await add('Echo', 'echo', { trait: 'big_spenders', op: 'equals', value: true });
      await add('Echo of the echo', 'big_echo', { trait: 'echo', op: 'equals', value: true });
      await stack.send(scene.writeKey, [order('u7', 900, 'o7')]);
      await until(() => toldOf('u7').length === 1);
      await allFolded(stack);
      const members = 'SELECT DISTINCT key FROM memberships JOIN definitions ON number = definition ORDER BY key';
      assert.deepEqual(await stack.sql(members), [{ key: 'big_spenders' }]);

      const call = { type: 'identify', userId: 'u7', messageId: 'i7', traits: { big_spenders: true } };
      await stack.send(scene.writeKey, [call]);
      await until(() => toldOf('u7').some(({ traits }) => 'echo' in traits));
      await allFolded(stack);
      assert.deepEqual(await stack.sql(members), [{ key: 'big_spenders' }, { key: 'echo' }]);
      assert.deepEqual(toldOf('u7').map(({ traits }) => traits), [{ big_spenders: true }, { echo: true }]); // biome-ignore format: short
    });

    test('has readers that tell others that they are alive, also without events', async () => {
      const { stack } = bed;
      const clocks = () => stack.sql<{ clock: string }>('SELECT clock FROM compute_positions ORDER BY stream');
      const before = await clocks();
      const isLater = ({ clock }: { clock: string }, at: number) => Number(clock) > Number(before[at]?.clock);
      await until(async () => (await clocks()).every(isLater));
    });
  });

  test('has a source of its own, whose calls can be explained and replayed', async () => {
    await using bed = await openAudience();
    const { stack, scene, destinationId } = bed;
    await stack.send(scene.writeKey, [order('u1', 900, 'o1')]);
    await until(() => bed.identifies().length === 1);
    const { items } = await stack.get<{ items: Source[] }>('GET', '/sources');
    const source = items.find(({ kind }) => kind === 'computed');
    assert.deepEqual(source?.writeKeys, []);
    const id = source?.id ?? '';
    assert.equal((await stack.ask('DELETE', `/sources/${id}`)).status, 400);
    assert.equal((await stack.ask('POST', `/sources/${id}/write-keys`, { label: 'Mine' })).status, 400);

    type Recorded = { message_id: string; source_id: string };
    const rows = () =>
      stack.sql<Recorded>(
        `SELECT message_id, source_id FROM deliveries WHERE type = 'identify' AND state = 'delivered'`,
      );
    await until(async () => (await rows()).length === 1);
    const [row] = await rows();
    assert.equal(row?.source_id, id);
    const explained = await stack.get<Explained>('GET', `/events/${row?.message_id}/explain`);
    assert.equal(explained.verdict, 'accepted');
    assert.ok(explained.stored !== null, JSON.stringify(explained));

    const range = {
      from: new Date(Date.now() - 600_000).toISOString(),
      to: new Date(Date.now() + 60_000).toISOString(),
    };
    const job = await stack.get<Job>('POST', '/replays', { sourceId: id, destinationId, ...range });
    assert.equal((await ended(stack, `/replays/${job.id}`)).progress.done, 1);
    await until(() => bed.identifies().length === 2);
    const [first, again] = bed.identifies();
    assert.equal(again?.webhookId, first?.webhookId);
    const elsewhere = { sourceId: id, destinationId: scene.destinationId, ...range };
    const none = await stack.get<Job>('POST', '/replays', elsewhere);
    assert.equal((await ended(stack, `/replays/${none.id}`)).progress.done, 0, 'it was not for that destination');
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
    assert.deepEqual(bed.identifies().map(({ userId }) => userId), ['u1', 'u9']); // biome-ignore format: short
  });

  test('waits while PostgreSQL is away, and collection and delivery go on', async () => {
    await using bed = await openAudience();
    const { stack, scene, shop } = bed;
    stack.postgres.stop('fast');
    assert.equal(await stack.send(scene.writeKey, [order('u1', 900, 'o1')]), 200);
    await until(() => shop.received.length === 1);
    assert.equal(bed.identifies().length, 0);
    stack.postgres.start();
    await until(() => bed.identifies().length === 1);
    assert.equal(bed.identifies()[0]?.userId, 'u1');
  });
});
