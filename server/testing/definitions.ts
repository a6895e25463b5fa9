/** Definitions as the control API makes them, and others that are live at once. */
import type { Definition } from '@millrace/contract/audiences';
import { assignSlots } from '../src/compute/fold/measure-need.ts';
import {
  changeDefinitions,
  type DefinitionName,
  type DefinitionRow,
  findDefinition,
  insertDefinition,
  insertVersion,
  moveVersion,
  nextMeasureSlot,
  updateDefinition,
} from '../src/store/definitions/definitions.ts';
import { measuresInUse } from '../src/store/definitions/lifecycle.ts';
import { newId } from '../src/store/new-id.ts';
import type { Store, Tx } from '../src/store/open-store.ts';

/** As the API does it: compute takes it from there. Resolves with its id. */
export function createDefinition(store: Store, added: DefinitionToAdd): Promise<string> {
  return store.inWorkspace(added.workspaceId, async (tx) => {
    const change = await changeDefinitions(tx);
    return (await insert(tx, change, added)).id;
  });
}

/** Makes a new version. */
export function editDefinition(store: Store, name: DefinitionName, definition: Definition): Promise<void> {
  return store.inWorkspace(name.workspaceId, async (tx) => {
    const change = await changeDefinitions(tx);
    const row = await findDefinition(tx, name.workspaceId, name.id);
    if (row === undefined) throw new Error('there is no such definition');
    await insertVersion(tx, change, await versionOf(tx, row, definition));
  });
}

/** Runs one change of a definition. */
export function changeDefinition<T>(
  store: Store,
  workspaceId: string,
  work: (tx: Tx, change: number) => Promise<T>,
): Promise<T> {
  return store.inWorkspace(workspaceId, async (tx) => work(tx, await changeDefinitions(tx)));
}

async function insert(tx: Tx, change: number, { workspaceId, key, destinations, definition }: DefinitionToAdd) {
  const { kind } = definition;
  const id = newId(kind === 'audience' ? 'aud' : 'trt');
  const row = await insertDefinition(tx, change, { workspace_id: workspaceId, id, kind, key, name: key, destinations });
  if (row === undefined) throw new Error('the key is taken');
  return { id, number: row.number, version: await insertVersion(tx, change, await versionOf(tx, row, definition)) };
}

async function versionOf(tx: Tx, { workspace_id: workspaceId, number }: DefinitionRow, definition: Definition) {
  const inUse = await measuresInUse(tx, workspaceId);
  const measures = assignSlots(definition, inUse, await nextMeasureSlot(tx, workspaceId));
  return { workspaceId, definition: number, body: definition, measures };
}

export type DefinitionToAdd = { workspaceId: string; key: string; destinations: string[]; definition: Definition };

/** Live at once, without a past. Resolves with its id. */
export function addDefinition(store: Store, added: DefinitionToAdd): Promise<string> {
  const { workspaceId } = added;
  return store.inWorkspace(workspaceId, async (tx) => {
    const change = await changeDefinitions(tx);
    const { id, number, version } = await insert(tx, change, added);
    await moveVersion(tx, change, { definition: number, version }, 'live');
    await updateDefinition(tx, change, { workspaceId, id }, { state: 'live' });
    return id;
  });
}
