import type { DestinationConfig } from '../../../server/src/domain/configuration.ts';
import type { Random } from '../seeded-random.ts';
import type { SimDestination } from './oracle.ts';
import type { World } from './world.ts';

type Settings = { maxConcurrency: number; maxPerSecond: number; order?: 'user' };

/** A destination as control writes it to the bucket. It has no secrets, so its settings are as they are. */
export function configOf(destination: SimDestination, change: Partial<DestinationConfig> = {}): DestinationConfig {
  const { id, workspaceId, sourceId } = destination;
  const owner = {
    id,
    workspaceId,
    sourceId,
    catalog: 'Webhooks',
    name: id,
    enabled: true,
    updatedAt: '2026-01-01T00:00:00Z',
  };
  return { ...owner, settings: settingsOf(destination), ...change };
}

function settingsOf({ url, order, bodyFormat }: SimDestination, change?: Settings): DestinationConfig['settings'] {
  return { targets: [{ url }], ...(order && { order }), ...(bodyFormat && { bodyFormat }), ...change };
}

/** Pauses a destination, or limits it, and changes it back. */
export function changeConfig(world: World, random: Random): () => void {
  const [first, ...others] = world.destinations;
  if (first === undefined) return () => undefined;
  const chosen = random.pick([first, ...others]);
  const limited = { maxConcurrency: 1, maxPerSecond: 5 };
  const changes: Partial<DestinationConfig>[] = [
    { settings: settingsOf(chosen, limited) },
    { settings: settingsOf(chosen, { ...limited, order: 'user' }) },
  ];
  const change = random.pick([{ paused: true }, ...changes]);
  world.trace.note(`change ${chosen.id}`);
  world.outbox.change(configOf(chosen, change));
  return () => {
    const resumedAt = new Date(world.clock.trueTime()).toISOString();
    world.outbox.change(configOf(chosen, 'paused' in change ? { resumedAt } : {}));
  };
}
