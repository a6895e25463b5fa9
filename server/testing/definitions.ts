/** Definitions as the control API makes them, live at once. */
import type { Definition } from '@millrace/contract/audiences';
import { assignSlots } from '../src/compute/fold/measure-need.ts';
import {
  changeDefinitions,
  insertDefinition,
  insertVersion,
  moveVersion,
  nextMeasureSlot,
  updateDefinition,
} from '../src/store/compute/definitions.ts';
import { newId } from '../src/store/new-id.ts';
import type { Store } from '../src/store/open-store.ts';

export type DefinitionToAdd = { workspaceId: string; key: string; destinations: string[]; definition: Definition };

/** Resolves with its id. */
export function addDefinition(store: Store, added: DefinitionToAdd): Promise<string> {
  const { workspaceId, key, destinations, definition } = added;
  return store.inWorkspace(workspaceId, async (tx) => {
    const change = await changeDefinitions(tx);
    const id = newId('aud');
    const { kind } = definition;
    const row = await insertDefinition(tx, change, {
      workspace_id: workspaceId,
      id,
      kind,
      key,
      name: key,
      destinations,
    });
    if (row === undefined) throw new Error('the key is taken');
    const measures = assignSlots(definition, [], await nextMeasureSlot(tx, workspaceId));
    const version = await insertVersion(tx, change, {
      workspaceId,
      definition: row.number,
      body: definition,
      measures,
    });
    await moveVersion(tx, change, { definition: row.number, version }, 'live');
    await updateDefinition(tx, change, { workspaceId, id }, { state: 'live' });
    return id;
  });
}
