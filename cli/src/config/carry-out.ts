/** Carries out a plan over the control API, one change after the other, sources before their destinations. */
import type { Destination, Source } from '@millrace/contract/control';
import type { Control } from '../api/control.ts';
import { changeDefinition } from './carry-out-definitions.ts';
import type { CurrentWorkspace, DestinationName, SourceConfig } from './model.ts';
import type { Change, DestinationChange, Plan } from './plan.ts';

/** Of everything that has a name, also of things that this run creates. */
type Ids = { sources: Map<string, string>; destinations: Map<string, string>; definitions: Map<string, string> };

const nameOf = ({ source, destination }: DestinationName) => JSON.stringify([source, destination]);

/** Stops at the first refusal: the changes before it are made, and a second run goes on from there. */
export async function carryOut(
  control: Control,
  { changes }: Plan,
  current: Pick<CurrentWorkspace, 'sources' | 'definitions'>,
  tell: (done: number) => void,
): Promise<void> {
  const ids = idsOf(current);
  for (const [done, change] of changes.entries()) {
    tell(done);
    await carryOutOne(control, change, ids);
  }
}

function idsOf({ sources, definitions }: Pick<CurrentWorkspace, 'sources' | 'definitions'>): Ids {
  const destinations = [...sources].flatMap(([source, each]) =>
    [...each.destinations].map(([destination, { id }]) => [nameOf({ source, destination }), id] as const),
  );
  return {
    sources: new Map([...sources].map(([name, { id }]) => [name, id])),
    destinations: new Map(destinations),
    definitions: new Map([...definitions].map(([key, { id }]) => [key, id])),
  };
}

async function carryOutOne(control: Control, change: Change, ids: Ids): Promise<void> {
  if (change.kind === 'definition') {
    const id = await changeDefinition(control, change, {
      source: (name) => ids.sources.get(name),
      destination: (name) => ids.destinations.get(nameOf(name)),
      definition: (key) => ids.definitions.get(key),
    });
    if (id !== undefined) ids.definitions.set(change.definition, id);
    return;
  }
  if (change.kind === 'destination') {
    const id = await changeDestination(control, change, ids.sources.get(change.source) ?? '');
    if (id !== undefined) ids.destinations.set(nameOf(change), id);
    return;
  }
  switch (change.action) {
    case 'create': {
      const source = await control.ask<Source>('POST', '/sources', { body: { name: change.source } });
      ids.sources.set(change.source, source.id);
      await setUpSource(control, source, change.wanted, []);
      return dropFirstKey(control, source, change.wanted);
    }
    case 'update': {
      const source = await control.ask<Source>('GET', `/sources/${change.current.id}`);
      return setUpSource(control, source, change.wanted, change.current.config.blockedEvents);
    }
    case 'delete':
      await control.ask('DELETE', `/sources/${change.current.id}`);
  }
}

/** Control gives every new source a key; a file that names its keys without this one does not want it. */
async function dropFirstKey(control: Control, { id, writeKeys }: Source, wanted: SourceConfig): Promise<void> {
  const [first] = writeKeys;
  if (first === undefined || wanted.writeKeys.length === 0 || wanted.writeKeys.includes(first.label)) return;
  await control.ask('DELETE', `/sources/${id}/write-keys/${first.id}`);
}

async function setUpSource(
  control: Control,
  source: Source,
  wanted: SourceConfig,
  blocked: readonly string[],
): Promise<void> {
  const path = `/sources/${source.id}`;
  const { enabled, rateLimitPerSecond, writeKeys, blockedEvents } = wanted;
  await control.ask('PATCH', path, { body: { enabled, rateLimitPerSecond } });
  const labels = source.writeKeys.map(({ label }) => label);
  for (const label of writeKeys.filter((each) => !labels.includes(each))) {
    await control.ask('POST', `${path}/write-keys`, { body: { label } });
  }
  for (const name of blockedEvents.filter((each) => !blocked.includes(each))) {
    await control.ask('POST', `${path}/events`, { body: { name, blocked: true } });
  }
  for (const name of blocked.filter((each) => !blockedEvents.includes(each))) {
    await control.ask('POST', `${path}/events`, { body: { name, blocked: false } });
  }
}

type Named = DestinationChange & { destination: string };

/** Resolves with the id of a new destination. */
async function changeDestination(control: Control, change: Named, sourceId: string): Promise<string | undefined> {
  if (change.action === 'delete') {
    await control.ask('DELETE', `/destinations/${change.current.id}`);
    return undefined;
  }
  const { catalog, enabled, paused, filters } = change.wanted;
  if (change.action === 'update') {
    const body = { enabled, paused, filters, settings: change.settings.body };
    await control.ask('PATCH', `/destinations/${change.current.id}`, { body });
    return undefined;
  }
  // Created disabled, so that no event passes before it is paused.
  const body = { sourceId, catalog, name: change.destination, filters, settings: change.settings.body };
  const { id } = await control.ask<Destination>('POST', '/destinations', { body });
  await control.ask('PATCH', `/destinations/${id}`, { body: { enabled, paused } });
  return id;
}
