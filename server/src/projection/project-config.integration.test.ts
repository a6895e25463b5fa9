import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomInt } from 'node:crypto';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type NatsCluster, startNatsCluster } from '@millrace/engines';
import { childProgram } from '../../testing/child-program.ts';
import { startMigratedPostgres } from '../../testing/migrated-postgres.ts';
import { FORMATS } from '../domain/format.ts';
import { openLog } from '../log.ts';
import { insertDestination } from '../store/destinations.ts';
import { openStore, type Store, type Tx } from '../store/open-store.ts';
import { addDestinationsToOutbox, addToOutbox, takeFromOutbox } from '../store/outbox.ts';
import { deleteSource } from '../store/sources.ts';
import { setEventBlocked } from '../store/source-events.ts';
import { insertWorkspace } from '../store/workspaces.ts';
import type { ConfigWriter } from '../stream/config/config-writer.ts';
import { openStream } from '../stream/open-stream.ts';
import { projectChanges } from './project-changes.ts';
import { openLogLines } from '../../testing/log-lines.ts';
import { startProjector } from './project-config.ts';
import { changeAtRandom, WORKSPACE } from '../../testing/projection/change-at-random.ts';
import { repairConfig } from './repair-config.ts';
import { STREAM_SETTINGS } from '../../testing/stream-settings.ts';
import { until } from '../../testing/until.ts';

const log = openLog({ level: 'silent', pretty: false });
/** `node server/src/projection/project-config.integration.test.ts --full` */
const KILLS = process.argv.includes('--full') ? 50 : 16;
/** Within a second, which the projection bench measures; the rest is for the stalls of a busy machine. */
const PROMPTLY_MS = 10_000;
/** As PostgreSQL knows its sessions. */
const CHILD = 'killed-at-random';
const ids = { workspaceId: WORKSPACE, sourceId: 'src_1' };

suite('the projection', () => {
  test('brings a change to every view promptly', async (t) => {
    await using scene = await openScene();
    await using view = await scene.stream.configView();
    await using projector = startProjector({ ...scene, log });
    const change = async (work: (tx: Tx) => Promise<void>) => {
      await scene.store.inWorkspace(WORKSPACE, work);
      projector.changed();
    };
    await change((tx) => createDestination(tx, 'dst_1'));
    const madeMs = await until(
      () => view.destination('dst_1') !== undefined && view.destinationsOf('src_1').length === 1,
      PROMPTLY_MS,
    );
    assert.deepEqual(view.destination('dst_1')?.settings, { targets: [] });
    await change(async (tx) => {
      await setEventBlocked(tx, ids, { name: 'Noise', blocked: true });
      await addToOutbox(tx, { kind: 'source', workspaceId: WORKSPACE, objectId: 'src_1' });
    });
    const blockedMs = await until(
      () => view.isEventBlocked('src_1', 'Noise') && !view.isEventBlocked('src_1', 'Signal'),
      PROMPTLY_MS,
    );
    await change(async (tx) => {
      await addDestinationsToOutbox(tx, WORKSPACE, 'src_1');
      await deleteSource(tx, WORKSPACE, 'src_1');
    });
    const deletedMs = await until(
      () => view.destination('dst_1') === undefined && view.destinationsOf('src_1').length === 0,
      PROMPTLY_MS,
    );
    t.diagnostic(`seen after ${madeMs}, ${blockedMs}, ${deletedMs} ms`);
  });

  test('finds a change that nobody told it of', async (t) => {
    await using scene = await openScene();
    await using view = await scene.stream.configView();
    await using _ = startProjector({ ...scene, log });
    await scene.store.inWorkspace(WORKSPACE, (tx) => createDestination(tx, 'dst_1'));
    // It looks every second.
    const foundMs = await until(() => view.destination('dst_1') !== undefined, 1_000 + PROMPTLY_MS);
    t.diagnostic(`found after ${foundMs} ms`);
  });

  test('agrees with PostgreSQL after two processes have projected side by side', async () => {
    await using scene = await openScene();
    {
      await using first = startProjector({ ...scene, log });
      await using second = startProjector({ ...scene, log });
      for (let i = 0; i < 100; i += 1) {
        await Promise.all(
          [changeAtRandom(scene.store), changeAtRandom(scene.store)].map((each) => each.catch(() => 0)),
        );
        (i % 2 === 0 ? first : second).changed();
      }
    }
    await projectAll(scene);
    assert.equal(await repairConfig(scene), 0);
  });

  test('agrees with PostgreSQL after its process was killed often, at random points', {
    timeout: 400_000,
  }, async (t) => {
    await using scene = await openScene();
    let unprojected = 0;
    for (let round = 0; round < KILLS; round += 1) {
      const clients = await clientsOf(scene.cluster);
      const child = runChild(scene.urls);
      const died = once(child, 'exit').then(() => 'died');
      assert.notEqual(await Promise.race([once(child.stdout, 'data'), died]), 'died');
      await sleep(randomInt(20, 250));
      child.kill('SIGKILL');
      await died;
      // Its last statements may still be on their way, and would be executed after ours.
      await until(async () => (await clientsOf(scene.cluster)) <= clients && !(await hasSessions(scene.store)));
      if ((await scene.store.asSystem((tx) => takeFromOutbox(tx, 1))).length > 0) unprojected += 1;
      await projectAll(scene);
      assert.equal(await repairConfig(scene), 0, `round ${round}`);
    }
    t.diagnostic(`${unprojected} of ${KILLS} were killed between a commit and its projection`);
    assert.ok(unprojected > KILLS / 4, 'otherwise this shows nothing');
  });

  test('goes on when PostgreSQL was away: a change right after its return arrives within 5 seconds', async () => {
    await using scene = await openScene();
    await using view = await scene.stream.configView();
    const { log, of } = openLogLines();
    await using projector = startProjector({ ...scene, log });
    scene.server.stop('immediate');
    // From the fourth on, the projector waits as long as it ever does between two tries.
    await until(() => of('projection.failed').length >= 4);
    scene.server.start();
    const startedAt = performance.now();
    await untilTaken(() => scene.store.inWorkspace(WORKSPACE, (tx) => createDestination(tx, 'dst_1')));
    projector.changed();
    await until(() => view.destination('dst_1') !== undefined, 5_000 - (performance.now() - startedAt));
  });

  test('goes on when NATS was away', async () => {
    await using scene = await openScene();
    await using view = await scene.stream.configView();
    const { log, of } = openLogLines();
    await using projector = startProjector({ ...scene, log });
    const [node] = scene.cluster.nodes;
    await node?.kill('SIGKILL');
    await scene.store.inWorkspace(WORKSPACE, (tx) => createDestination(tx, 'dst_1'));
    projector.changed();
    await until(() => of('projection.failed').length > 0);
    await node?.start();
    await until(() => view.destination('dst_1') !== undefined);
  });
});

suite('an entry that is too large for the engine', () => {
  test('does not keep the others from being projected', async () => {
    await using scene = await openScene();
    const { store, configWriter } = scene;
    await store.inWorkspace(WORKSPACE, async (tx) => {
      await createDestination(tx, 'dst_1');
      await createDestination(tx, 'dst_2');
      const url = 'x'.repeat(configWriter.maxValueBytes());
      await tx.query(`UPDATE destinations SET settings = $1 WHERE id = 'dst_1'`, [{ url }]);
    });
    await projectAll(scene);
    assert.deepEqual([...(await readBucket(configWriter)).keys()], ['destination.dst_2', 'source.src_1']);
  });
});

suite('the repair', () => {
  test('finds entries that are missing, different or left over, and nothing else', async () => {
    await using scene = await openScene();
    const { store, configWriter } = scene;
    await store.inWorkspace(WORKSPACE, async (tx) => {
      for (const id of ['dst_1', 'dst_2', 'dst_3']) await createDestination(tx, id);
    });
    await projectAll(scene);
    assert.equal(await repairConfig(scene), 0);
    const before = await readBucket(configWriter);
    assert.equal(before.size, 4);

    await configWriter.deleteDestination('dst_1');
    await configWriter.write([
      { key: 'destination.dst_2', value: '{"broken' },
      { key: 'destination.dst_gone', value: '{"sourceId":"src_gone"}' },
      { key: 'source.src_gone', value: '{}' },
      { key: 'source.src_1', value: undefined },
    ]);
    assert.equal(await repairConfig(scene), 5);
    assert.equal(await repairConfig(scene), 0, 'what waits to be repaired is not found again');
    await projectAll(scene);
    assert.deepEqual(await readBucket(configWriter), before);
  });

  test('keeps what nobody can read in quarantine, and leaves what a newer control wrote', async () => {
    await using scene = await openScene();
    await using side = await scene.stream.controlSide();
    const { store, configWriter } = scene;
    await store.inWorkspace(WORKSPACE, async (tx) => {
      for (const id of ['dst_1', 'dst_2']) await createDestination(tx, id);
    });
    await projectAll(scene);
    const before = await readBucket(configWriter);
    const newer = JSON.stringify({ v: FORMATS.destination + 1, sourceId: 'src_1' });
    await configWriter.write([
      { key: 'destination.dst_1', value: '{"broken' },
      { key: 'destination.dst_2', value: newer },
      { key: 'destination.dst_later', value: newer },
    ]);
    assert.equal(await repairConfig(scene), 1);
    await projectAll(scene);
    const after = await readBucket(configWriter);
    assert.equal(after.get('destination.dst_1'), before.get('destination.dst_1'));
    assert.equal(after.get('destination.dst_2'), newer);
    assert.equal(after.get('destination.dst_later'), newer);
    const kept = await side.quarantine.read('config', 1, 10);
    assert.deepEqual(
      kept.map(({ payload, from }) => [Buffer.from(payload).toString(), from.subject]),
      [['{"broken', '$KV.config.destination.dst_1']],
    );
  });

  test('does not remove many entries that have no row before somebody confirms it', async () => {
    await using scene = await openScene();
    const { store, configWriter } = scene;
    await store.inWorkspace(WORKSPACE, async (tx) => createDestination(tx, 'dst_1'));
    await projectAll(scene);
    // As after a restore of PostgreSQL from a backup that is older than these.
    const newer = Array.from({ length: 4 }, (_, nth) => ({
      id: `dst_newer${nth}`,
      workspaceId: WORKSPACE,
      sourceId: 'src_1',
      catalog: 'Webhooks',
      name: 'newer',
      enabled: true,
      settings: {},
      updatedAt: new Date().toISOString(),
    }));
    for (const each of newer) await configWriter.putDestination(each);
    await using view = await scene.stream.configView();
    await using projector = startProjector({ ...scene, log });
    await until(() => projector.removals.waiting().destination === 4);
    assert.equal(await repairConfig(scene), 4);
    await projectAll(scene);
    assert.ok(view.destination('dst_newer3') !== undefined, 'nothing is removed meanwhile');
    assert.equal(await projector.removals.confirm(), 4);
    await until(() => view.destination('dst_newer3') === undefined);
    assert.deepEqual(projector.removals.waiting(), { source: 0, destination: 0, user: 0 });
    assert.ok(view.destination('dst_1') !== undefined);
  });

  test('happens at the start', async (t) => {
    await using scene = await openScene();
    await scene.configWriter.putSource({
      id: 'src_x',
      workspaceId: 'w',
      name: 'x',
      enabled: true,
      writeKeyHashes: ['h'],
    });
    await using view = await scene.stream.configView();
    assert.ok(view.sourceByKeyHash('h') !== undefined);
    await using _ = startProjector({ ...scene, log });
    t.diagnostic(`repaired after ${await until(() => view.sourceByKeyHash('h') === undefined, PROMPTLY_MS)} ms`);
  });
});

async function openScene() {
  await using opening = new AsyncDisposableStack();
  const server = opening.use(await startMigratedPostgres());
  const cluster = opening.use(await startNatsCluster());
  const store = opening.use(await openStore(server.serviceUrl));
  await store.asSystem((tx) => insertWorkspace(tx, { id: WORKSPACE, name: 'One' }));
  const stream = opening.use(await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log }));
  const configWriter = await stream.configWriter();
  const opened = opening.move();
  const urls = [server.url, cluster.url];
  return { server, cluster, urls, store, stream, configWriter, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function createDestination(tx: Tx, id: string): Promise<void> {
  await tx.query(`INSERT INTO sources (workspace_id, id, name) VALUES ($1, 'src_1', 'S') ON CONFLICT DO NOTHING`, [
    WORKSPACE,
  ]);
  const row = { workspace_id: WORKSPACE, id, source_id: 'src_1', catalog: 'Webhooks', name: id, enabled: true };
  await insertDestination(tx, { ...row, settings: { targets: [] } });
  await addToOutbox(tx, { kind: 'source', workspaceId: WORKSPACE, objectId: 'src_1' });
  await addToOutbox(tx, { kind: 'destination', workspaceId: WORKSPACE, objectId: id });
}

/** Without the repair, which would hide what the outbox has lost. */
async function projectAll(scene: { store: Store; configWriter: ConfigWriter }): Promise<void> {
  await until(async () => (await projectChanges({ ...scene, log })) === 'done');
}

async function readBucket(configWriter: ConfigWriter): Promise<Map<string, string>> {
  const entries = new Map<string, string>();
  await configWriter.readAll((key, value) => entries.set(key, value));
  return new Map([...entries].toSorted(([a], [b]) => a.localeCompare(b)));
}

function runChild([databaseUrl, natsUrl = '']: string[]) {
  const program = childProgram('projection/change-and-project.ts');
  const args = [program, `${databaseUrl}?application_name=${CHILD}`, natsUrl];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function untilTaken(work: () => Promise<void>): Promise<void> {
  const isTaken = () =>
    work().then(
      () => true,
      () => false,
    );
  await until(isTaken);
}

/** How many NATS has right now. */
async function clientsOf({ nodes }: NatsCluster): Promise<number> {
  const answer = await fetch(`${nodes[0]?.monitorUrl}/connz`);
  return ((await answer.json()) as { num_connections: number }).num_connections;
}

/** Whether PostgreSQL is at work for the child still. */
async function hasSessions(store: Store): Promise<boolean> {
  const sql = 'SELECT pid FROM pg_stat_activity WHERE application_name = $1';
  return (await store.asSystem((tx) => tx.query(sql, [CHILD]))).length > 0;
}
