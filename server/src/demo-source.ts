import { hashOfKey } from './collect/find-write-key.ts';
import { hashOfSecret } from './control/secret-text.ts';
import type { Control } from './control/start-control.ts';
import type { Running } from './start-roles.ts';
import { addToOutbox } from './store/outbox.ts';
import { findSource, insertSource } from './store/sources.ts';
import { findFirstWorkspace } from './store/workspaces.ts';
import { insertWriteKey } from './store/write-keys.ts';

export const WRITE_KEY = 'demo-write-key';
const SOURCE_ID = 'src_demo';
const KEY_ID = 'key_demo';

/** A source whose write key is easy to type, which the API would never make. */
export async function putDemoSource({ stream, control }: Pick<Running, 'stream' | 'control'>): Promise<void> {
  if (control !== undefined) {
    await storeDemoSource(control);
    return;
  }
  const writer = await stream.configWriter();
  const writeKeyHashes = [hashOfKey(WRITE_KEY)];
  await writer.putSource({ id: SOURCE_ID, workspaceId: 'ws_demo', name: 'Demo', enabled: true, writeKeyHashes });
}

/** Where the control role is played, what is in the bucket and not in the store would be taken out again. */
async function storeDemoSource({ store, keyRing, changed }: Control): Promise<void> {
  await store.asSystem(async (tx) => {
    const workspace = await findFirstWorkspace(tx);
    if (workspace === undefined) throw new Error('there is no workspace to put the demo source into');
    const workspaceId = workspace.id;
    if ((await findSource(tx, workspaceId, SOURCE_ID)) !== undefined) return;
    await insertSource(tx, { workspaceId, id: SOURCE_ID, name: 'Demo' });
    const place = { workspaceId, table: 'write_keys', column: 'key_sealed', rowId: KEY_ID };
    const key = { workspaceId, id: KEY_ID, sourceId: SOURCE_ID, label: 'Demo' };
    await insertWriteKey(tx, { ...key, keyHash: hashOfSecret(WRITE_KEY), keySealed: keyRing.seal(WRITE_KEY, place) });
    await addToOutbox(tx, { kind: 'source', workspaceId, objectId: SOURCE_ID });
  });
  changed();
}
