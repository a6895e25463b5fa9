import type { Logger } from '../log.ts';
import type { Store } from '../store/open-store.ts';
import { noteEventsSeen } from '../store/source-events.ts';
import { noteSuppressed } from '../store/suppressed-calls.ts';
import { noteKeysUsed } from '../store/write-keys.ts';
import type { Sighting } from '../stream/signals/sightings.ts';

export type SightingNeeds = { store: Store; log: Logger };

/** Stores sightings: used keys, event names, dropped calls. One that cannot be stored is dropped: collect reports it again. */
export function recordSightings({ store, log }: SightingNeeds): (sighting: Sighting) => void {
  return (sighting) => {
    const { workspaceId, sourceId, at } = sighting;
    const recorded = store.inWorkspace(workspaceId, async (tx) => {
      await noteKeysUsed(tx, {
        workspaceId,
        keyHashes: sighting.keyHashes.map((hash) => Buffer.from(hash, 'hex')),
        at,
      });
      if (sighting.suppressed !== undefined) {
        await noteSuppressed(tx, { workspaceId, sourceId, ...sighting.suppressed });
      }
      await noteEventsSeen(tx, { workspaceId, sourceId }, { names: sighting.events, at });
    });
    recorded.catch((error: unknown) => log.debug({ sourceId, error: String(error) }, 'sighting.dropped'));
  };
}
