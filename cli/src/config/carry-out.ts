/** Carries out a plan over the control API, one change after the other, sources before their destinations. */
import type { Destination, Source } from '@millrace/contract/control';
import type { Control } from '../api/control.ts';
import type { SourceConfig } from './model.ts';
import type { Change, DestinationChange, Plan } from './plan.ts';

type Ids = Map<string, string>;
type Known = { sources: ReadonlyMap<string, { id: string }> };

/** Stops at the first refusal: the changes before it are made, and a second run goes on from there. */
export async function carryOut(
  control: Control,
  { changes }: Plan,
  current: Known,
  tell: (done: number) => void,
): Promise<void> {
  const ids: Ids = new Map([...current.sources].map(([name, { id }]) => [name, id]));
  for (const [done, change] of changes.entries()) {
    tell(done);
    await carryOutOne(control, change, ids);
  }
}

async function carryOutOne(control: Control, change: Change, ids: Ids): Promise<void> {
  if (change.kind === 'destination') return changeDestination(control, change, ids.get(change.source) ?? '');
  switch (change.action) {
    case 'create': {
      const source = await control.ask<Source>('POST', '/sources', { body: { name: change.source } });
      ids.set(change.source, source.id);
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

async function changeDestination(control: Control, change: Named, sourceId: string): Promise<void> {
  if (change.action === 'delete') {
    await control.ask('DELETE', `/destinations/${change.current.id}`);
    return;
  }
  const { catalog, enabled, paused, filters } = change.wanted;
  if (change.action === 'update') {
    const body = { enabled, paused, filters, settings: change.settings.body };
    await control.ask('PATCH', `/destinations/${change.current.id}`, { body });
    return;
  }
  // Created disabled, so that no event passes before it is paused.
  const body = { sourceId, catalog, name: change.destination, filters, settings: change.settings.body };
  const { id } = await control.ask<Destination>('POST', '/destinations', { body });
  await control.ask('PATCH', `/destinations/${id}`, { body: { enabled, paused } });
}
