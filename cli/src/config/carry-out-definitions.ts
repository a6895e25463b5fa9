import { definitionKey } from '@millrace/contract/audiences';
import type { Definition } from '@millrace/contract/control';
import type { Control } from '../api/control.ts';
import { type Ids, toBody } from './definitions.ts';
import type { DefinitionChange } from './plan-definitions.ts';

/** Members of a deleted audience are told that they left: receivers would keep them in for good otherwise. */
const MEMBERS = 'exit';

/** Resolves with the id of a new definition. */
export async function changeDefinition(
  control: Control,
  change: DefinitionChange,
  ids: Ids,
): Promise<string | undefined> {
  switch (change.action) {
    case 'delete':
      await control.ask('DELETE', `/definitions/${change.current.id}`, { query: { members: MEMBERS } });
      return undefined;
    case 'update': {
      const { kind: _kind, ...body } = toBody(change.wanted, ids);
      const before = Object.keys(change.current.config.definition);
      const gone = before.filter((name) => !(name in body) && name !== 'kind').map((name) => [name, null]);
      const reset = { ...Object.fromEntries(gone), includeAnonymous: false };
      await control.ask('PATCH', `/definitions/${change.current.id}`, { body: { ...reset, ...body } });
      return undefined;
    }
    case 'create':
      return create(control, change, ids);
  }
}

/** The key follows from the first name: one that was renamed since is created under its key, and renamed. */
async function create(
  control: Control,
  { definition: key, wanted }: DefinitionChange & { action: 'create' },
  ids: Ids,
): Promise<string> {
  const body = toBody(wanted, ids);
  const name = definitionKey(body.name) === key ? body.name : key;
  const { id } = await control.ask<Definition>('POST', '/definitions', { body: { ...body, name } });
  if (name !== body.name) await control.ask('PATCH', `/definitions/${id}`, { body: { name: body.name } });
  return id;
}
