/** A full config bucket: revoked keys and disabled objects are off, and changes that fit go on. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { startMigratedPostgres } from '../../testing/migrated-postgres.ts';
import { openLog } from '../log.ts';
import { insertDestination } from '../store/destinations.ts';
import { openEntrySigner } from '../secrets/sign-entry.ts';
import { openStore, type Tx } from '../store/open-store.ts';
import { addToOutbox } from '../store/outbox.ts';
import { projectionLag, retryFailures } from '../store/projection-failures.ts';
import { insertWorkspace } from '../store/workspaces.ts';
import { openStream } from '../stream/open-stream.ts';
import { projectChanges } from '../projection/project-changes.ts';
import { STREAM_SETTINGS } from '../../testing/stream-settings.ts';
import { until } from '../../testing/until.ts';

const log = openLog({ level: 'silent', pretty: false });
const GREEDY = 'ws_greedy';
const OTHER = 'ws_other';
const SIGNER = openEntrySigner(new Map([[1, Buffer.alloc(32, 'k')]]));
const TRUST = { check: SIGNER.check, mayBeUnsigned: false };
const hashOf = (text: string) => Buffer.from(text.padEnd(32, '.')).toString('hex');

for (const nodes of [1, 3] as const) {
  suite(`a config bucket without room, on ${nodes} server${nodes === 1 ? '' : 's'}`, () => {
    test('keeps no change of another workspace waiting', async () => {
      await using scene = await openScene(nodes);
      await scene.inWorkspace(GREEDY, async (tx) => {
        for (let i = 0; i < 12; i += 1) await addDestination(tx, GREEDY, { id: `dst_g${i}`, bytes: 100_000 });
      });
      await scene.inWorkspace(OTHER, (tx) => addDestination(tx, OTHER, { id: 'dst_o1', bytes: 1_000 }));
      await scene.project();
      const { view } = scene;
      await until(() => view.destination('dst_o1') !== undefined && view.sourceByKeyHash(hashOf(OTHER)) !== undefined);
      const { failures, oldestSeconds } = await scene.lag();
      assert.ok(failures > 0 && failures < 12, `${failures} of 12 found no room`);
      assert.equal(oldestSeconds, 0, 'no change waits');

      await scene.inWorkspace(OTHER, (tx) => revoke(tx, OTHER));
      await scene.project();
      await until(() => view.sourceByKeyHash(hashOf(OTHER)) === undefined);
    });

    test('takes what was set aside as soon as there is room', async () => {
      await using scene = await openScene(nodes);
      await scene.inWorkspace(GREEDY, async (tx) => {
        for (let i = 0; i < 9; i += 1) await addDestination(tx, GREEDY, { id: `dst_g${i}`, bytes: 100_000 });
      });
      await scene.project();
      assert.ok((await scene.lag()).failures > 0);
      await scene.inWorkspace(GREEDY, async (tx) => {
        for (let i = 0; i < 4; i += 1) await remove(tx, GREEDY, `dst_g${i}`);
      });
      await scene.project();
      await scene.store.asSystem((tx) => retryFailures(tx, { afterSeconds: 0, limit: 100 }));
      await scene.project();
      assert.equal((await scene.lag()).failures, 0);
      await until(
        () => scene.view.destination('dst_g8') !== undefined && scene.view.destination('dst_g0') === undefined,
      );
    });

    test('lets through what disables, revokes, pauses and deletes, though not a byte is free', async () => {
      await using scene = await openScene(nodes);
      const { view } = scene;
      await scene.inWorkspace(OTHER, async (tx) => {
        for (const id of ['dst_off', 'dst_paused', 'dst_gone']) await addDestination(tx, OTHER, { id, bytes: 300 });
        await addSource(tx, OTHER, 'src_off');
        await addSource(tx, OTHER, 'src_revoked');
      });
      await scene.project();
      await until(
        () => view.destination('dst_gone') !== undefined && view.sourceByKeyHash(hashOf('src_off')) !== undefined,
      );
      await scene.fillUp();
      await scene.inWorkspace(OTHER, async (tx) => {
        // Each of them also grows: as a whole none of them fits.
        const name = 'x'.repeat(200);
        const set = 'UPDATE destinations SET name = $1, updated_at = now()';
        await tx.query(`${set}, enabled = false WHERE id = 'dst_off'`, [name]);
        await tx.query(`${set}, paused_at = now() WHERE id = 'dst_paused'`, [name]);
        await remove(tx, OTHER, 'dst_gone');
        await tx.query(`UPDATE sources SET name = $1, enabled = false WHERE id = 'src_off'`, [name]);
        await tx.query(`UPDATE sources SET name = $1 WHERE id = 'src_revoked'`, [name]);
        await tx.query(`UPDATE write_keys SET revoked_at = now() WHERE source_id = 'src_revoked'`);
        for (const id of ['dst_off', 'dst_paused']) await tell(tx, OTHER, id);
        for (const id of ['src_off', 'src_revoked']) await tell(tx, OTHER, id);
      });
      await scene.project();
      await until(() => view.destination('dst_off')?.enabled === false);
      await until(() => view.destination('dst_paused')?.paused === true);
      await until(() => view.destination('dst_gone') === undefined);
      await until(() => view.sourceByKeyHash(hashOf('src_off'))?.enabled !== true);
      await until(() => view.sourceByKeyHash(hashOf('src_revoked')) === undefined);
      assert.equal(view.destination('dst_paused')?.enabled, true, 'what comes for it waits');
      // A process that starts now reads the same.
      await using late = await scene.stream.configView(TRUST);
      assert.notEqual(late.destination('dst_off')?.enabled, true);
      assert.equal(late.destination('dst_gone'), undefined);
      assert.equal(late.sourceByKeyHash(hashOf('src_revoked')), undefined);
    });
  });
}

test('control never signs what a stranger wrote, also when its own entry finds no room', async () => {
  await using scene = await openScene(1);
  await scene.inWorkspace(OTHER, (tx) => addDestination(tx, OTHER, { id: 'dst_1', bytes: 600 }));
  await scene.project();
  const signed = await scene.configWriter.current('destination.dst_1');
  assert.ok(signed.kind === 'put');
  const forged = signed.value.replace(/x{600}/, 'thief');
  for (const value of [forged, `${forged.slice(0, -1)},"mac":"1:${'A'.repeat(43)}"}`]) {
    await scene.stranger.write([{ key: 'destination.dst_1', value }]);
    await scene.fillUp();
    await scene.inWorkspace(OTHER, async (tx) => {
      await tx.query(`UPDATE destinations SET paused_at = now(), updated_at = now() WHERE id = 'dst_1'`);
      await tell(tx, OTHER, 'dst_1');
    });
    await scene.project();
    const after = await scene.configWriter.current('destination.dst_1');
    const isSigned = after.kind === 'put' && after.verdict === 'authentic';
    assert.doesNotMatch(isSigned ? after.value : '', /thief/);
  }
});

suite('an entry that is too long for the engine', () => {
  test('is set aside, and the part of it that turns off takes effect', async () => {
    await using scene = await openScene(1);
    const { view, store } = scene;
    await scene.inWorkspace(OTHER, (tx) => addDestination(tx, OTHER, { id: 'dst_1', bytes: 300 }));
    await scene.project();
    await until(() => view.sourceByKeyHash(hashOf(OTHER)) !== undefined);
    await scene.inWorkspace(OTHER, async (tx) => {
      const sql = `INSERT INTO source_events (workspace_id, source_id, name, blocked)
        SELECT $1, $2, lpad(n::text, 1300, 'é'), true FROM generate_series(1, 500) n`;
      await tx.query(sql, [OTHER, sourceOf(OTHER)]);
      await revoke(tx, OTHER);
    });
    await scene.project();
    await until(() => view.sourceByKeyHash(hashOf(OTHER)) === undefined);
    const [row] = await store.inWorkspace(OTHER, (tx) => tx.query('SELECT object_id, why FROM projection_failures'));
    assert.equal(row?.['object_id'], sourceOf(OTHER));
    assert.match(String(row?.['why']), /^its entry has \d+ bytes, and NATS takes at most \d+$/);
  });
});

async function openScene(nodes: 1 | 3) {
  await using opening = new AsyncDisposableStack();
  const server = opening.use(await startMigratedPostgres());
  // The bucket has a hundredth of it.
  const cluster = opening.use(await startNatsCluster({ nodes, maxFileStoreMb: 17 }));
  const store = opening.use(await openStore(server.url));
  const settings = { ...STREAM_SETTINGS, replicas: nodes };
  const stream = opening.use(await openStream({ natsUrl: cluster.url, settings, log }));
  const configWriter = await stream.configWriter(SIGNER);
  const stranger = await stream.configWriter();
  const view = opening.use(await stream.configView(TRUST));
  for (const id of [GREEDY, OTHER]) {
    await store.asSystem((tx) => insertWorkspace(tx, { id, name: id }));
    await store.inWorkspace(id, (tx) => addSource(tx, id, sourceOf(id)));
  }
  const opened = opening.move();
  return {
    store,
    stream,
    configWriter,
    stranger,
    view,
    inWorkspace: (id: string, work: (tx: Tx) => Promise<void>) => store.inWorkspace(id, work),
    async project() {
      await until(async () => (await projectChanges({ store, configWriter, log })) === 'done');
    },
    async lag() {
      const [main] = await store.asSystem(projectionLag);
      assert.ok(main !== undefined);
      return main;
    },
    /** Down to the last byte, with entries that are not ours. */
    async fillUp() {
      let count = 0;
      for (const bytes of [60_000, 6_000, 600, 60, 6, 0]) {
        for (;;) {
          count += 1;
          const value = 'x'.repeat(bytes);
          if ((await stranger.write([{ key: `filler.${count}`, value }])).length > 0) break;
        }
      }
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const sourceOf = (workspaceId: string) => `src_${workspaceId.slice(3)}`;

async function addSource(tx: Tx, workspaceId: string, id: string): Promise<void> {
  await tx.query('INSERT INTO sources (workspace_id, id, name) VALUES ($1, $2, $2)', [workspaceId, id]);
  const hash = Buffer.from(hashOf(id === sourceOf(workspaceId) ? workspaceId : id), 'hex');
  const sql = `INSERT INTO write_keys (workspace_id, id, source_id, label, key_hash, key_sealed)
    VALUES ($1, $2, $3, 'Key', $4, '')`;
  await tx.query(sql, [workspaceId, `key_${id}`, id, hash]);
  await tell(tx, workspaceId, id);
}

async function addDestination(tx: Tx, workspaceId: string, { id, bytes }: { id: string; bytes: number }) {
  const row = { workspace_id: workspaceId, id, source_id: sourceOf(workspaceId), catalog: 'Webhooks', name: id };
  await insertDestination(tx, { ...row, enabled: true, settings: { targets: [{ url: 'x'.repeat(bytes) }] } });
  await tell(tx, workspaceId, id);
}

async function revoke(tx: Tx, workspaceId: string): Promise<void> {
  await tx.query('UPDATE write_keys SET revoked_at = now() WHERE workspace_id = $1', [workspaceId]);
  await tell(tx, workspaceId, sourceOf(workspaceId));
}

async function remove(tx: Tx, workspaceId: string, id: string): Promise<void> {
  await tx.query('DELETE FROM destinations WHERE id = $1', [id]);
  await tell(tx, workspaceId, id);
}

function tell(tx: Tx, workspaceId: string, objectId: string): Promise<void> {
  return addToOutbox(tx, { kind: objectId.startsWith('src') ? 'source' : 'destination', workspaceId, objectId });
}
