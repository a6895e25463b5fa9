import { randomInt } from 'node:crypto';
import {
  deleteDestination,
  findDestination,
  insertDestination,
  updateDestination,
} from '../../src/store/destinations.ts';
import type { Store, Tx } from '../../src/store/open-store.ts';
import { addDestinationsToOutbox, addToOutbox } from '../../src/store/outbox.ts';
import { deleteSource, findSource, insertSource, lockSource, updateSource } from '../../src/store/sources.ts';
import { setEventBlocked } from '../../src/store/source-events.ts';

export const WORKSPACE = 'ws_1';
const IDS = 20;

/** For tests: one change of the kinds that the API makes, to one of a few sources and destinations. */
export function changeAtRandom(store: Store): Promise<void> {
  const source = `src_${randomInt(IDS)}`;
  const destination = `dst_${source}_${randomInt(3)}`;
  return store.inWorkspace(WORKSPACE, async (tx) => {
    await (randomInt(2) === 0 ? changeSource(tx, source) : changeDestination(tx, source, destination));
  });
}

async function changeSource(tx: Tx, id: string): Promise<void> {
  const before = await lockSource(tx, WORKSPACE, id);
  if (before === undefined) await insertSource(tx, { workspaceId: WORKSPACE, id, name: `new ${randomInt(1e9)}` });
  else if (randomInt(4) === 0) {
    await addDestinationsToOutbox(tx, WORKSPACE, id);
    await deleteSource(tx, WORKSPACE, id);
  } else {
    await updateSource(tx, before, { name: `changed ${randomInt(1e9)}`, enabled: randomInt(2) === 0 });
    await setEventBlocked(tx, { workspaceId: WORKSPACE, sourceId: id }, { name: `e${randomInt(3)}`, blocked: true });
  }
  await addToOutbox(tx, { kind: 'source', workspaceId: WORKSPACE, objectId: id });
}

async function changeDestination(tx: Tx, sourceId: string, id: string): Promise<void> {
  if ((await findSource(tx, WORKSPACE, sourceId)) === undefined) return changeSource(tx, sourceId);
  const before = await findDestination(tx, WORKSPACE, id);
  const settings = { targets: [{ url: `https://example.com/${randomInt(1e9)}` }] };
  if (before === undefined) {
    const base = { workspace_id: WORKSPACE, id, source_id: sourceId, catalog: 'Webhooks' };
    await insertDestination(tx, { ...base, name: 'new', enabled: true, settings });
  } else if (randomInt(4) === 0) await deleteDestination(tx, WORKSPACE, id);
  else await updateDestination(tx, { ...before, settings });
  await addToOutbox(tx, { kind: 'destination', workspaceId: WORKSPACE, objectId: id });
}
