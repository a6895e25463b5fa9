import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { startMigratedPostgres } from '../../testing/migrated-postgres.ts';
import { STREAM_SETTINGS } from '../../testing/stream-settings.ts';
import { openLog } from '../log.ts';
import { insertDestination } from '../store/destinations.ts';
import { openStore } from '../store/open-store.ts';
import { addToOutbox } from '../store/outbox.ts';
import { insertWorkspace } from '../store/workspaces.ts';
import { openStream } from '../stream/open-stream.ts';
import { projectChanges } from './project-changes.ts';

const log = openLog({ level: 'silent', pretty: false });
const WORKSPACE = 'ws_1';

test('changes that are too long for one round stay in the outbox until the next one has written them', async () => {
  await using server = await startMigratedPostgres();
  await using cluster = await startNatsCluster();
  await using store = await openStore(server.serviceUrl);
  await using stream = await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log });
  const configWriter = await stream.configWriter();
  // A round takes eight megabytes.
  const ids = Array.from({ length: 12 }, (_, nth) => `dst_${nth}`);
  await store.asSystem((tx) => insertWorkspace(tx, { id: WORKSPACE, name: 'One' }));
  await store.inWorkspace(WORKSPACE, async (tx) => {
    await tx.query(`INSERT INTO sources (workspace_id, id, name) VALUES ($1, 'src_1', 'S')`, [WORKSPACE]);
    for (const id of ids) {
      const row = { workspace_id: WORKSPACE, id, source_id: 'src_1', catalog: 'Webhooks', name: id, enabled: true };
      await insertDestination(tx, { ...row, settings: { url: 'x'.repeat(900_000) } });
      await addToOutbox(tx, { kind: 'destination', workspaceId: WORKSPACE, objectId: id });
    }
  });
  assert.equal(await projectChanges({ store, configWriter, log }), 'more');
  assert.equal(await projectChanges({ store, configWriter, log }), 'done');
  const keys: string[] = [];
  await configWriter.readAll((key) => void keys.push(key));
  assert.deepEqual(keys.toSorted(), ids.map((id) => `destination.${id}`).toSorted());
});
