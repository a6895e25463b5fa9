/** The home screen over every role and both engines: its counts, its sentences, and the fence between workspaces. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Overview } from '@millrace/contract/control';
import { addToken, addWorkspace } from '../testing/control.ts';
import { answer, openReceiver } from '../testing/receiver.ts';
import { tracks } from '../testing/samples.ts';
import { addScene, openStack, type Scene, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const opened = new AsyncDisposableStack();
let stack: Stack;
before(async () => {
  stack = opened.use(await openStack());
});
after(() => opened.disposeAsync());

const overview = () => stack.get<Overview>('GET', '/overview');
const kindsOf = ({ attention }: Overview) => attention.map(({ kind }) => kind);
const about = ({ attention }: Overview, id: string) =>
  attention.filter(({ destinationId, sourceId }) => destinationId === id || sourceId === id);

async function pastCalls({ sourceId }: Scene, calls: number, at: number): Promise<void> {
  const slot = new Date(at - (at % 300_000));
  await stack.sql(
    `INSERT INTO call_slots (workspace_id, slot, source_id, calls)
     SELECT workspace_id, $2, id, $3 FROM sources WHERE id = $1`,
    [sourceId, slot, calls],
  );
}

suite('the overview', () => {
  test('of a new workspace is empty and calls nothing trouble', async () => {
    const { tiles, series, attention, attentionLeftOut } = await overview();
    assert.deepEqual(
      [tiles.callsPerMinute, tiles.delivered.share, tiles.failing, tiles.waiting, tiles.oldestWaiting],
      [{ now: 0, dayAgo: 0 }, null, 0, 0, null],
    );
    assert.deepEqual([tiles.deadLetters, series.points, attention, attentionLeftOut], [0, [], [], 0]);
  });

  test('counts calls and deliveries of the last minutes, and leaves a quiet disabled destination alone', async () => {
    await using receiver = await openReceiver();
    const scene = await addScene(stack, receiver.url);
    const quiet = await stack.get<{ id: string }>('POST', '/destinations', {
      sourceId: scene.sourceId,
      catalog: 'Webhooks',
      settings: { targets: [{ url: receiver.url }] },
    });
    await until(() => stack.view().destination(quiet.id) !== undefined);
    await stack.send(scene.writeKey, tracks(30));
    await until(async () => (await overview()).tiles.delivered.delivered === 30);
    await until(async () => ((await overview()).tiles.callsPerMinute.now ?? 0) > 0);
    const seen = await overview();
    const rate = seen.tiles.callsPerMinute.now ?? 0;
    assert.equal(seen.tiles.delivered.share, 1);
    assert.ok(rate >= 3 && rate <= 6, 'thirty in five to ten minutes');
    assert.equal(
      seen.series.points.reduce((sum, { delivered }) => sum + delivered, 0),
      30,
    );
    assert.equal(
      seen.series.points.reduce((sum, { skipped }) => sum + skipped, 0),
      30,
      'of the disabled one',
    );
    assert.deepEqual([about(seen, quiet.id), about(seen, scene.destinationId)], [[], []]);
    const fine = await stack.get<Overview>('GET', '/overview?step=600');
    assert.equal(fine.series.step, 600);
  });

  test('says which destination fails, since when, why, and when its oldest delivery is given up', async () => {
    await using receiver = await openReceiver(answer(503));
    const scene = await addScene(stack, receiver.url);
    await stack.send(scene.writeKey, tracks(40));
    await until(async () => about(await overview(), scene.destinationId)[0]?.kind === 'destination_failing');
    await until(async () =>
      /\d+ deliveries wait; the oldest/.test(JSON.stringify(about(await overview(), scene.destinationId))),
    );
    const seen = await overview();
    const [failing] = about(seen, scene.destinationId);
    assert.equal(failing?.severity, 'critical');
    assert.match(
      failing?.sentence ?? '',
      /has been failing since \S+ \(.*503.*\)\. \d+ deliveries wait; the oldest is (not given up before|given up at) \S+Z/,
    );
    assert.match(failing?.nextStep ?? '', /Repair the receiver/);
    assert.equal(failing?.sourceId, scene.sourceId);
    assert.ok(seen.tiles.failing >= 1 && seen.tiles.waiting > 0);
    assert.equal(seen.tiles.oldestWaiting?.destinationId, scene.destinationId);
    await stack.get('DELETE', `/destinations/${scene.destinationId}`);
    await until(async () => about(await overview(), scene.destinationId).length === 0);
  });

  test('says that a paused destination has a backlog', async () => {
    await using receiver = await openReceiver();
    const scene = await addScene(stack, receiver.url);
    await stack.get('PATCH', `/destinations/${scene.destinationId}`, { paused: true });
    await until(() => stack.view().destination(scene.destinationId)?.paused === true);
    assert.deepEqual(about(await overview(), scene.destinationId), [], 'nothing waits yet');
    await stack.send(scene.writeKey, tracks(3));
    await until(async () => about(await overview(), scene.destinationId)[0]?.kind === 'destination_paused');
    const [paused] = about(await overview(), scene.destinationId);
    assert.match(paused?.nextStep ?? '', /Resume/);
  });

  test('says how many dead letters wait', async () => {
    await using receiver = await openReceiver(answer(400));
    const scene = await addScene(stack, receiver.url);
    await stack.send(scene.writeKey, tracks(2));
    await until(async () => about(await overview(), scene.destinationId).some(({ kind }) => kind === 'dead_letters'));
    const seen = await overview();
    const [letters] = about(seen, scene.destinationId);
    assert.match(letters?.sentence ?? '', /^2 dead letters of/);
    assert.ok((seen.tiles.deadLetters ?? 0) >= 2);
    assert.ok((seen.tiles.delivered.share ?? 1) < 1);
  });

  test('says which source has calls refused, and for which code', async () => {
    const scene = await addScene(stack, 'http://127.0.0.1:1999/');
    for (let sent = 0; sent < 12; sent += 1) await stack.send(scene.writeKey, [{ type: 'track', userId: 'u1' }]);
    await until(async () => about(await overview(), scene.sourceId).some(({ kind }) => kind === 'source_refusals'));
    const [refused] = about(await overview(), scene.sourceId);
    assert.match(refused?.sentence ?? '', /refused in a day as event_not_defined, the last at \S+Z: .*event/);
  });

  test('says which source went quiet, and not which was quiet yesterday too', async () => {
    const [quiet, always] = [
      await addScene(stack, 'http://127.0.0.1:1999/'),
      await addScene(stack, 'http://127.0.0.1:1999/'),
    ];
    await pastCalls(quiet, 400, Date.now() - DAY_MS - 10 * MINUTE_MS);
    await pastCalls(always, 400, Date.now() - DAY_MS - 180 * MINUTE_MS);
    const seen = await overview();
    const [told] = about(seen, quiet.sourceId);
    assert.equal(told?.kind, 'source_quiet');
    assert.match(told?.sentence ?? '', /no call in the last 30 minutes, and 400 at the same time yesterday/);
    assert.deepEqual(about(seen, always.sourceId), []);
    await stack.send(quiet.writeKey, tracks(1));
    await until(async () => about(await overview(), quiet.sourceId).every(({ kind }) => kind !== 'source_quiet'));
  });

  test('shows nothing of another workspace, and of its own only what the token may read', async () => {
    const seen = await overview();
    assert.ok(kindsOf(seen).includes('dead_letters') && kindsOf(seen).includes('source_refusals'));
    const store = stack.store();
    const strangers = await addToken(store, await addWorkspace(store), { role: 'owner' });
    const other = (await (await asking(strangers)).json()) as Overview;
    assert.deepEqual([other.attention, other.series.points, other.tiles.waiting], [[], [], 0]);
    assert.deepEqual(
      [other.tiles.deadLetters, other.tiles.callsPerMinute.now, other.tiles.oldestWaiting],
      [0, 0, null],
    );
    const [workspace] = await stack.sql<{ id: string }>('SELECT id FROM workspaces ORDER BY created_at LIMIT 1');
    const narrowed = await addToken(store, workspace?.id ?? '', { role: 'owner', scopes: ['deliveries:read'] });
    const less = (await (await asking(narrowed)).json()) as Overview;
    assert.equal(less.tiles.deadLetters, null);
    assert.ok(kindsOf(less).every((kind) => kind.startsWith('destination_')));
  });

  test('costs PostgreSQL a few milliseconds with a day of counts of a thousand destinations', async (t) => {
    await stack.sql(`INSERT INTO outcome_slots SELECT w.id, s.slot, o.outcome, 7 FROM (SELECT id FROM workspaces ORDER BY created_at LIMIT 1) w,
      generate_series(date_bin('10 minutes', now() - interval '7 days', 'epoch'), now() - interval '20 minutes', interval '10 minutes') AS s (slot),
      unnest(ARRAY['delivered', 'retry', 'discarded', 'expired', 'skipped']) AS o (outcome) ON CONFLICT DO NOTHING`);
    const took: number[] = [];
    for (let asked = 0; asked < 15; asked += 1) {
      const startedAt = performance.now();
      await overview();
      took.push(performance.now() - startedAt);
    }
    const median = took.toSorted((one, other) => one - other)[7] ?? Infinity;
    t.diagnostic(`an overview took ${median.toFixed(1)} ms`);
    assert.ok(median < 250, `${median} ms`);
  });
});

function asking(token: string): Promise<Response> {
  return fetch(`${stack.controlUrl()}/overview`, { headers: { Authorization: `Bearer ${token}` } });
}
