import type { Logger } from '../log.ts';
import type { HeldPosition, PositionState, ProfileStore } from './profiles/profile-store.ts';
import type { ReaderEnd } from './read-stream.ts';
import { openSharing } from './share-positions.ts';

export type Held<Work> = { held: HeldPosition; work: Work };
type Work = { stop(): Promise<void>; ended: Promise<ReaderEnd> };

export type HoldNeeds = { profiles: ProfileStore; holder: string; log: Logger };

/** A position that one process of all holds: taken when it has no holder, and given back at the end. */
export function holdOne<Of extends Work>(
  name: string,
  start: (held: HeldPosition) => Of,
  { profiles, holder, log }: HoldNeeds,
) {
  const sharing = openSharing(holder);
  let own: Held<Of> | undefined;
  return {
    work: (): Of | undefined => own?.work,
    async look(rows: readonly PositionState[]): Promise<void> {
      const held = new Set(own === undefined ? [] : [name]);
      const { take } = sharing.look({ names: [name], rows, held, processes: 1, nowMs: performance.now() });
      if (take.length === 0) return;
      const taken = await profiles.takeOver(name, holder);
      const started = { held: taken, work: start(taken) };
      own = started;
      void started.work.ended.then((end) => {
        if (own === started) own = undefined;
        if (end !== 'stopped') log.warn({ end }, `${name}.left`);
      });
    },
    async giveBack(): Promise<void> {
      const last = own;
      own = undefined;
      await last?.work.stop();
      if (last !== undefined && (await last.work.ended) === 'stopped') await profiles.release(last.held);
    },
  };
}
