import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Definition } from '@millrace/contract/audiences';
import { updateDefinition } from '../src/store/definitions/definitions.ts';
import { askResync, deleteDefinition, firstSyncsWaiting, readProgress } from '../src/store/definitions/lifecycle.ts';
import type { Identify } from '../testing/audiences.ts';
import { changeDefinition, createDefinition, editDefinition } from '../testing/definitions.ts';
import { openReceiver } from '../testing/receiver.ts';
import { addDestination, addScene, openStack, type Scene, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

const track = (userId: string, event: string, fields: object = {}) => ({ type: 'track', event, userId, ...fields });

type Receiver = Awaited<ReturnType<typeof openReceiver>>;

const audience = (when: object): Definition => ({ kind: 'audience', name: 'A', when });

suite('the life of a definition', () => {
  const opened = new AsyncDisposableStack();
  let stack: Stack;
  let scene: Scene;
  let workspaceId: string;
  let told: Receiver;
  let destinationId: string;
  before(async () => {
    stack = opened.use(await openStack());
    const shop = opened.use(await openReceiver());
    told = opened.use(await openReceiver());
    scene = await addScene(stack, shop.url);
    destinationId = await addDestination(stack, scene.sourceId, { targets: [{ url: told.url }] });
    const [row] = await stack.sql<{ workspace_id: string }>('SELECT workspace_id FROM sources');
    workspaceId = row?.workspace_id ?? '';
  });
  after(() => opened.disposeAsync());

  const identifiesAt = (receiver: Receiver, key: string) =>
    receiver.received
      .map(({ body, headers }) => ({ ...(JSON.parse(body) as Identify), webhookId: String(headers['webhook-id']) }))
      .filter(({ type, traits }) => type === 'identify' && key in traits);
  const heard = (key: string, receiver = told) =>
    identifiesAt(receiver, key)
      .map(({ userId, traits }) => `${userId} ${JSON.stringify(traits[key])}`)
      .toSorted();
  const state = async (id: string) =>
    (await stack.sql<{ state: string }>('SELECT state FROM definitions WHERE id = $1', [id]))[0]?.state;
  const create = (key: string, definition: Definition, destinations = [destinationId]) =>
    createDefinition(stack.store(), { workspaceId, key, destinations, definition });
  const change = <T>(work: Parameters<typeof changeDefinition<T>>[2]) =>
    changeDefinition(stack.store(), workspaceId, work);
  const live = (id: string) => until(async () => (await state(id)) === 'live');
  const send = async (calls: object[]) => assert.equal(await stack.send(scene.writeKey, calls), 200);
  const folded = (users: number) =>
    until(async () => (await stack.sql('SELECT 1 FROM profiles WHERE is_user')).length === users);

  test('begins with what was stored before the first one', async () => {
    await send([
      track('u1', 'Order', { properties: { total: 60 } }),
      track('u2', 'Order', { properties: { total: 10 } }),
    ]);
    await send([track('u1', 'Order', { properties: { total: 60 } }), track('u3', 'Visit')]);
    const spenders = await create(
      'spenders',
      audience({ event: 'Order', sum: 'properties.total', window: '30d', atLeast: 100 }),
    );
    const buyers = await create('buyers', audience({ event: 'Order', window: '30d', atLeast: 1 }));
    await live(spenders);
    await live(buyers);
    await until(() => heard('spenders').length === 1 && heard('buyers').length === 2);
    assert.deepEqual(heard('spenders'), ['u1 true']);
    assert.deepEqual(heard('buyers'), ['u1 true', 'u2 true']);
    const causes = await stack.sql<{ cause: string }>('SELECT DISTINCT cause FROM membership_changes');
    assert.deepEqual(causes, [{ cause: 'backfill' }]);
    assert.deepEqual(await stack.store().inWorkspace(workspaceId, (tx) => readProgress(tx, workspaceId)), new Map());
    await until(
      async () => (await stack.store().inWorkspace(workspaceId, (tx) => firstSyncsWaiting(tx, workspaceId))).size === 0,
    );
  });

  test('counts an event that comes with its creation once, and tells each member once', async () => {
    const twice = await create('twice', audience({ event: 'Order', window: '60d', atLeast: 2 }));
    await send([track('u2', 'Order'), track('u4', 'Order')]);
    await live(twice);
    await send([track('u4', 'Order')]);
    await until(() => heard('twice').length === 3);
    assert.deepEqual(heard('twice'), ['u1 true', 'u2 true', 'u4 true']);
  });

  test('tells the differences of an edit, and nothing else', async () => {
    const visitors = await create('visitors', audience({ event: 'Visit', window: '60d', atLeast: 1 }));
    await live(visitors);
    await send([track('u5', 'Visit'), track('u5', 'Visit')]);
    await until(() => heard('visitors').length === 2);
    await editDefinition(
      stack.store(),
      { workspaceId, id: visitors },
      audience({ event: 'Visit', window: '60d', atLeast: 2 }),
    );
    await until(() => heard('visitors').length === 3);
    assert.deepEqual(heard('visitors'), ['u3 false', 'u3 true', 'u5 true']);
    const causes = `SELECT cause FROM membership_changes c JOIN definitions d ON d.number = c.definition WHERE d.id = $1 ORDER BY c.id`;
    const rows = await stack.sql<{ cause: string }>(causes, [visitors]);
    assert.deepEqual(rows.map(({ cause }) => cause), ['backfill', 'event', 'edit']); // biome-ignore format: short
    assert.equal(await state(visitors), 'live');
  });

  test('tells a destination that is attached later all members, and again when it is asked for', async () => {
    await using later = await openReceiver();
    const attached = await addDestination(stack, scene.sourceId, { targets: [{ url: later.url }] });
    await until(() => stack.view().destination(attached) !== undefined);
    const [row] = await stack.sql<{ id: string }>(`SELECT id FROM definitions WHERE key = 'twice'`);
    const name = { workspaceId, id: row?.id ?? '' };
    const before = heard('twice').length;
    await change((tx, number) => updateDefinition(tx, number, name, { destinations: [destinationId, attached] }));
    await until(() => heard('twice', later).length === 3);
    assert.deepEqual(heard('twice', later), ['u1 true', 'u2 true', 'u4 true']);
    assert.equal(heard('twice').length, before, 'the others hear nothing');
    await change((tx, number) => askResync(tx, number, name, [attached]));
    await until(() => heard('twice', later).length === 6);
    const ids = new Set(identifiesAt(later, 'twice').map(({ webhookId }) => webhookId));
    assert.equal(ids.size, 3, 'what is told again has the id that it had');
  });

  test('ends with members who are told, or who are not, and its key is never used again', async () => {
    const [twice] = await stack.sql<{ id: string; number: number }>(
      `SELECT id, number FROM definitions WHERE key = 'twice'`,
    );
    const [buyers] = await stack.sql<{ id: string; number: number }>(
      `SELECT id, number FROM definitions WHERE key = 'buyers'`,
    );
    if (twice === undefined || buyers === undefined) throw new Error('they were made');
    const before = heard('buyers').length;
    await change(async (tx, number) => {
      await deleteDefinition(tx, number, { workspaceId, id: twice.id }, 'exit');
      await deleteDefinition(tx, number, { workspaceId, id: buyers.id }, 'leave');
    });
    await until(async () => (await state(twice.id)) === 'deleted' && (await state(buyers.id)) === 'deleted');
    const exits = ['u1 false', 'u1 true', 'u2 false', 'u2 true', 'u4 false', 'u4 true'];
    await until(() => heard('twice').length === exits.length);
    assert.deepEqual(heard('twice'), exits);
    assert.equal(heard('buyers').length, before);
    for (const table of ['memberships', 'membership_changes', 'membership_sizes', 'compute_outbox']) {
      const rows: object[] = await stack.sql(`SELECT 1 FROM ${table} WHERE definition = ANY ($1)`, [
        [twice.number, buyers.number],
      ]);
      assert.deepEqual(rows, [], table);
    }
    await assert.rejects(create('twice', audience({ event: 'Order', atLeast: 1 })), /taken/);
    await folded(5);
  });

  test('ends the profiles of the workspace with the last one; the next one begins with what is stored', async () => {
    const rest = await stack.sql<{ id: string }>(`SELECT id FROM definitions WHERE state = 'live'`);
    await change(async (tx, number) => {
      for (const { id } of rest) await deleteDefinition(tx, number, { workspaceId, id }, 'leave');
    });
    const again = await create('again', audience({ event: 'Order', atLeast: 1 }));
    await live(again);
    await until(() => heard('again').length === 3);
    assert.deepEqual(heard('again'), ['u1 true', 'u2 true', 'u4 true']);
    await folded(5);
    await change((tx, number) => deleteDefinition(tx, number, { workspaceId, id: again }, 'exit'));
    await until(async () => (await state(again)) === 'deleted');
    assert.deepEqual(heard('again').filter((line) => line.endsWith('false')).length, 3);
    for (const table of ['profiles', 'profile_timers', 'compute_workspaces', 'workspace_starts', 'profile_counts']) {
      assert.deepEqual(await stack.sql(`SELECT 1 FROM ${table}`), [], table);
    }
  });
});
