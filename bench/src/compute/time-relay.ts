import { openProfileStore } from '../../../server/src/store/compute/open-profile-store.ts';
import type { Scene } from './profile-scene.ts';

export type RelayFigures = { transitions: number; perSecond: number; postgresUs: number };

/** Takes what waits in the outbox, up to `most`, as the relay does, and sends it nowhere. */
export async function timeRelay({ store, cpuUs }: Scene, most: number): Promise<RelayFigures> {
  const profiles = openProfileStore(store);
  const held = await profiles.takeOver('relay', 'bench');
  const [startedAt, before] = [performance.now(), cpuUs()];
  let transitions = 0;
  while (transitions < most) {
    const batch = await profiles.claimBatch(held, { now: Date.now(), most: 1_000, mostOfFirstSyncs: 0 });
    if (batch === undefined) break;
    await profiles.deleteBatch(held, batch.batch);
    transitions += batch.transitions.length;
  }
  return {
    transitions,
    perSecond: Math.round(transitions / ((performance.now() - startedAt) / 1_000)),
    postgresUs: Math.round(((cpuUs() - before) / transitions) * 10) / 10,
  };
}
