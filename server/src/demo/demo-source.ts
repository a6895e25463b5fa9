import { setTimeout as sleep } from 'node:timers/promises';
import { CATALOG } from '@millrace/contract/control';
import { hashOfKey } from '../collect/find-write-key.ts';
import { hashOfSecret } from '../control/access/secret-text.ts';
import type { Control } from '../control/start-control.ts';
import type { KeyRing } from '../secrets/seal.ts';
import { sealSettings } from '../secrets/sealed-settings.ts';
import type { EntrySigner } from '../secrets/sign-entry.ts';
import type { Running } from '../start-roles.ts';
import { insertDestination, lockDestination, updateDestination } from '../store/destinations.ts';
import type { Tx } from '../store/open-store.ts';
import type { ConfigView } from '../stream/config/config-bucket.ts';
import { addToOutbox } from '../store/outbox.ts';
import { findSource, insertSource } from '../store/sources.ts';
import { findFirstWorkspace } from '../store/workspaces.ts';
import { insertWriteKey } from '../store/write-keys.ts';

export const WRITE_KEY = 'demo-write-key';
export const SHARED_SECRET = 'demo-shared-secret';
export const DESTINATION_ID = 'dst_demo';
const WORKSPACE_ID = 'ws_demo';
export const SOURCE_ID = 'src_demo';
const KEY_ID = 'key_demo';
const NAME = 'Demo';

type Roles = Pick<Running, 'stream' | 'control'>;
export type DemoReceiverAt = { url: string; keyRing: KeyRing };
type SignedReceiver = DemoReceiverAt & { signer: EntrySigner };

/**
 * A source whose write key is easy to type, which the API would never make. With a receiver there is a destination too; its
 * address is another one at each start.
 */
export async function putDemoSource({ stream, control }: Roles, receiver: SignedReceiver | undefined): Promise<void> {
  if (control !== undefined) {
    await storeDemoSource(control, receiver?.url);
    return;
  }
  const writer = await stream.configWriter(receiver?.signer);
  const shared = { workspaceId: WORKSPACE_ID, name: NAME, enabled: true };
  await writer.putSource({ ...shared, id: SOURCE_ID, writeKeyHashes: [hashOfKey(WRITE_KEY)] });
  if (receiver === undefined) return;
  const settings = sealedSettings(WORKSPACE_ID, receiver);
  const updatedAt = new Date().toISOString();
  const kind = { id: DESTINATION_ID, sourceId: SOURCE_ID, catalog: 'Webhooks' };
  await writer.putDestination({ ...shared, ...kind, settings, updatedAt });
}

/** Resolves when the roles of this process have the demo's entries: only then does the demo do what it prints. */
export async function untilDemoIsKnown(view: ConfigView, hasReceiver: boolean): Promise<void> {
  const changed = Promise.withResolvers<void>();
  using _ = view.onDestination((id) => id === DESTINATION_ID && changed.resolve());
  if (hasReceiver) await changed.promise;
  while (view.sourceByKeyHash(hashOfKey(WRITE_KEY)) === undefined) await sleep(20);
}

/** With the control role, the projector would remove bucket entries that are not in the store. */
async function storeDemoSource({ store, keyRing, changed }: Control, url: string | undefined): Promise<void> {
  await store.asSystem(async (tx) => {
    const workspace = await findFirstWorkspace(tx);
    if (workspace === undefined) throw new Error('there is no workspace to put the demo source into');
    await storeSource(tx, workspace.id, keyRing);
    if (url !== undefined) await storeDestination(tx, workspace.id, { url, keyRing });
  });
  changed();
}

async function storeSource(tx: Tx, workspaceId: string, keyRing: KeyRing): Promise<void> {
  if ((await findSource(tx, workspaceId, SOURCE_ID)) !== undefined) return;
  await insertSource(tx, { workspaceId, id: SOURCE_ID, name: NAME });
  const place = { workspaceId, table: 'write_keys', column: 'key_sealed', rowId: KEY_ID };
  const key = { workspaceId, id: KEY_ID, sourceId: SOURCE_ID, label: NAME };
  await insertWriteKey(tx, { ...key, keyHash: hashOfSecret(WRITE_KEY), keySealed: keyRing.seal(WRITE_KEY, place) });
  await addToOutbox(tx, { kind: 'source', workspaceId, objectId: SOURCE_ID });
}

/** A user may have paused or renamed it since the last start: the demo only sets its settings. */
async function storeDestination(tx: Tx, workspaceId: string, receiver: DemoReceiverAt): Promise<void> {
  const settings = sealedSettings(workspaceId, receiver);
  const before = await lockDestination(tx, workspaceId, DESTINATION_ID);
  if (before === undefined) {
    const ids = { workspace_id: workspaceId, id: DESTINATION_ID, source_id: SOURCE_ID };
    await insertDestination(tx, { ...ids, catalog: 'Webhooks', name: NAME, enabled: true, settings });
  } else await updateDestination(tx, { ...before, settings });
  await addToOutbox(tx, { kind: 'destination', workspaceId, objectId: DESTINATION_ID });
}

function sealedSettings(workspaceId: string, { url, keyRing }: DemoReceiverAt): Record<string, unknown> {
  const entry = CATALOG.find(({ name }) => name === 'Webhooks');
  if (entry === undefined) throw new Error('Webhooks is not in the catalog');
  const value = { targets: [{ url }], sharedSecret: SHARED_SECRET };
  const owner = { workspaceId, destinationId: DESTINATION_ID };
  return sealSettings(entry, { value, kept: new Map() }, { owner, keyRing });
}
