import { randomBytes } from 'node:crypto';
import { newId } from '../../../server/src/store/new-id.ts';
import type { KeyRing } from '../../../server/src/secrets/seal.ts';
import { hashOfSecret, makeSecret } from '../../../server/src/control/access/secret-text.ts';
import type { Store } from '../../../server/src/store/open-store.ts';
import { insertWorkspace } from '../../../server/src/store/workspaces.ts';

export type Size = { sources: number; destinationsPerSource: number };
export type Loading = { store: Store; keyRing: KeyRing; workspaceId: string };

const BATCH = 500;

/** One workspace with everything in it: the worst case for its lists. Answers the ids of the sources. */
export async function loadConfig({ sources, destinationsPerSource }: Size, loading: Loading): Promise<string[]> {
  const { store, workspaceId } = loading;
  await store.asSystem((tx) => insertWorkspace(tx, { id: workspaceId, name: 'Bench' }));
  const ids: string[] = [];
  for (let done = 0; done < sources; done += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, sources - done) }, () => newId('src'));
    await addSources(batch, loading);
    await addDestinations(
      batch.flatMap((id) => Array.from({ length: destinationsPerSource }, () => id)),
      loading,
    );
    ids.push(...batch);
  }
  return ids;
}

async function addSources(ids: string[], { store, keyRing, workspaceId }: Loading): Promise<void> {
  const keys = ids.map((sourceId) => {
    const id = newId('key');
    const key = makeSecret('wk');
    const sealed = keyRing.seal(key, { workspaceId, table: 'write_keys', column: 'key_sealed', rowId: id });
    return { id, sourceId, hash: hashOfSecret(key), sealed };
  });
  await store.asSystem(async (tx) => {
    await tx.query(`INSERT INTO sources (workspace_id, id, name) SELECT $1, id, id FROM unnest($2::text[]) AS id`, [
      workspaceId,
      ids,
    ]);
    const sql = `INSERT INTO write_keys (workspace_id, id, source_id, label, key_hash, key_sealed)
      SELECT $1, id, source_id, 'First key', hash, sealed
      FROM unnest($2::text[], $3::text[], $4::bytea[], $5::bytea[]) AS t (id, source_id, hash, sealed)`;
    const column = <Name extends keyof (typeof keys)[number]>(name: Name) => keys.map((key) => key[name]);
    await tx.query(sql, [workspaceId, column('id'), column('sourceId'), column('hash'), column('sealed')]);
  });
}

async function addDestinations(sourceIds: string[], { store, keyRing, workspaceId }: Loading): Promise<void> {
  const rows = sourceIds.map((sourceId) => {
    const id = newId('dst');
    const seal = (column: string) => {
      const text = randomBytes(24).toString('base64');
      return {
        sealed: keyRing.seal(text, { workspaceId, table: 'destinations', column, rowId: id }).toString('base64'),
      };
    };
    const headers = { Authorization: seal('settings.targets.headers.Authorization') };
    const targets = [{ url: `https://hooks.example.com/millrace/${id}`, headers }];
    return { id, sourceId, settings: JSON.stringify({ targets, sharedSecret: seal('settings.sharedSecret') }) };
  });
  const sql = `INSERT INTO destinations (workspace_id, id, source_id, catalog, name, enabled, settings)
    SELECT $1, id, source_id, 'Webhooks', 'Webhooks', true, settings
    FROM unnest($2::text[], $3::text[], $4::jsonb[]) AS t (id, source_id, settings)`;
  await store.asSystem((tx) =>
    tx.query(sql, [
      workspaceId,
      rows.map((row) => row.id),
      rows.map((row) => row.sourceId),
      rows.map((row) => row.settings),
    ]),
  );
}
