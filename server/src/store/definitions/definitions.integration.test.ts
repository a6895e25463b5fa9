import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { openProfileBed, OTHER_WORKSPACE, type ProfileBed, WORKSPACE } from '../../../testing/profile-store.ts';
import { until } from '../../../testing/until.ts';
import type { StartPlace } from '../../compute/profiles/profile-store.ts';
import { foldingStarts, workspaceStarts } from './definition-changes.ts';
import {
  changeDefinitions,
  findDefinition,
  insertDefinition,
  insertVersion,
  listDefinitions,
  listVersions,
  moveVersion,
  nextMeasureSlot,
  updateDefinition,
} from './definitions.ts';
import { firstSyncsWaiting, MOST_WAITING } from './lifecycle.ts';

const ID = `audience_${WORKSPACE}`;

suite('definitions', () => {
  let bed: ProfileBed;
  before(async () => {
    bed = await openProfileBed();
  });
  after(() => bed[Symbol.asyncDispose]());

  const inWorkspace = <T>(work: Parameters<typeof bed.store.inWorkspace<T>>[1]) =>
    bed.store.inWorkspace(WORKSPACE, work);
  const read = async (since: number) =>
    bed.profiles.fold(await bed.profiles.takeOver('reader', 'a'), async (tx) => ({
      known: tx.definitionsVersion,
      ...(await tx.definitions(since)),
    }));

  test('reach a reader once, and again when they or their versions change', async () => {
    const all = await read(0);
    assert.equal(all.definitions.length, 4);
    assert.equal(all.known, all.version);
    const [first] = all.definitions;
    assert.deepEqual(first, {
      number: bed.audience,
      id: ID,
      workspaceId: WORKSPACE,
      kind: 'audience',
      key: 'an_audience',
      state: 'preparing',
      membersGo: null,
      isTold: true,
      changed: first?.changed,
      revised: first?.changed,
      workspaceState: 'ready',
      versions: [
        { version: 1, body: { kind: 'audience' }, measures: [{ id: 'm', keepMs: 0, slot: 3 }], state: 'live' },
      ],
    });
    assert.deepEqual((await read(all.version)).definitions, []);
    await inWorkspace(async (tx) => {
      const change = await changeDefinitions(tx);
      await updateDefinition(tx, change, { workspaceId: WORKSPACE, id: ID }, { state: 'live' });
      await insertVersion(tx, change, {
        workspaceId: WORKSPACE,
        definition: bed.audience,
        body: 2,
        measures: [{ slot: 9 }],
      });
    });
    const [changed] = (await read(all.version)).definitions;
    assert.deepEqual([changed?.state, changed?.versions.map(({ state }) => state)], ['live', ['live', 'preparing']]);
    assert.equal(changed?.changed, all.version + 1);
  });

  test('have one live version: the one that becomes live replaces those before it', async () => {
    await inWorkspace(async (tx) =>
      moveVersion(tx, await changeDefinitions(tx), { definition: bed.audience, version: 2 }, 'live'),
    );
    const versions = await inWorkspace((tx) => listVersions(tx, bed.audience));
    assert.deepEqual(
      versions.map(({ version, state }) => [version, state]),
      [
        [2, 'live'],
        [1, 'replaced'],
      ],
    );
    assert.equal(await inWorkspace((tx) => nextMeasureSlot(tx, WORKSPACE)), 10);
  });

  test('keep their keys for good', async () => {
    const gone = { workspaceId: WORKSPACE, id: `trait_${WORKSPACE}` };
    await inWorkspace(async (tx) => updateDefinition(tx, await changeDefinitions(tx), gone, { state: 'deleted' }));
    const again = {
      workspace_id: WORKSPACE,
      id: 'trt_2',
      kind: 'trait',
      key: 'an_trait',
      name: 'Again',
      destinations: [],
    } as const;
    const insert = inWorkspace(async (tx) =>
      insertDefinition(tx, await changeDefinitions(tx), { ...again, destinations: [] }),
    );
    assert.equal(await insert, undefined);
    assert.equal(await inWorkspace((tx) => findDefinition(tx, WORKSPACE, gone.id)), undefined);
    const listed = await inWorkspace((tx) => listDefinitions(tx, WORKSPACE, { limit: 10, after: undefined }));
    assert.deepEqual(
      listed.map(({ id }) => id),
      [ID],
    );
  });

  test('are changed one after the other, so that no reader misses one', async () => {
    const before = (await read(0)).version;
    let second: Promise<number> | undefined;
    const first = await inWorkspace(async (tx) => {
      const change = await changeDefinitions(tx);
      second = inWorkspace(changeDefinitions);
      await until(
        () => bed.server.run(`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`).trim() === '1',
      );
      assert.equal((await read(0)).version, before);
      return change;
    });
    assert.deepEqual([first, await second], [before + 1, before + 2]);
  });

  test('remember where each reader first began to fold a version, also when its stream is made anew', async () => {
    const held = await bed.profiles.takeOver('EVENTS-0', 'a');
    const begun = { version: 9, versions: [{ definition: bed.audience, version: 2 }], workspaces: [WORKSPACE] };
    const start = (place: StartPlace) => bed.profiles.fold(held, (tx) => tx.startFolding({ ...begun, place }));
    const first = { createdAt: 100, sequence: 7, storedAt: 6, left: [3] };
    const anew = { createdAt: 200, sequence: 1, storedAt: 9, left: [] };
    for (const place of [first, { ...first, sequence: 8 }, anew]) await start(place);
    const places = [{ stream: 'EVENTS-0', ...first }];
    assert.deepEqual(await inWorkspace((tx) => foldingStarts(tx, bed.audience, 2)), places);
    assert.deepEqual(await inWorkspace((tx) => workspaceStarts(tx, WORKSPACE)), places);
    const positions = await bed.profiles.positions();
    assert.equal(positions.find(({ stream }) => stream === 'EVENTS-0')?.definitionsVersion, 9);
  });

  test('say since when they are incomplete: the earliest time stays', async () => {
    const held = await bed.profiles.takeOver('EVENTS-0', 'a');
    for (const since of [5_000, 3_000, 4_000]) await bed.profiles.fold(held, (tx) => tx.markIncomplete(since));
    const found = await inWorkspace((tx) => findDefinition(tx, WORKSPACE, ID));
    assert.deepEqual(found?.incomplete_since, new Date(3_000));
  });

  test('that are all deleted leave nothing to compute', async () => {
    assert.equal(await bed.profiles.hasDefinitions(), true);
    bed.server.run(`UPDATE definitions SET state = 'deleted'`);
    assert.equal(await bed.profiles.hasDefinitions(), false);
  });

  test('tell how much of their first syncs waits, and look at a bounded part of it', async () => {
    const queue = (workspaceId: string, definition: number, rows: number) =>
      bed.server.run(`INSERT INTO compute_outbox (send_at, at, profile_key, definition, sequence, is_first_sync, value, before)
        SELECT 1, 1, (left(encode(sha256('${workspaceId}'), 'hex'), 12) || substr(md5(n::text), 1, 20))::uuid, ${definition}, 1, true, 'true', 'false'
        FROM generate_series(1, ${rows}) n`);
    queue(WORKSPACE, bed.audience, 300);
    queue(OTHER_WORKSPACE, bed.otherAudience, 10);
    const waiting = () => inWorkspace((tx) => firstSyncsWaiting(tx, WORKSPACE));
    assert.deepEqual(await waiting(), new Map([[bed.audience, 300]]));
    queue(WORKSPACE, bed.audience, MOST_WAITING);
    assert.deepEqual(await waiting(), new Map([[bed.audience, MOST_WAITING]]));
  });
});
