/** How much may be done now so that it is never more than so many a second, and hardly less. */
export type Pace = { isLimited: boolean; room(): number; spend(count: number): void };

/** A pause of ours is made up for, up to this; a longer one is not, or the receiver would get a flood. */
const SAVED_MS = 1_000;

/** It begins with nothing saved up, so that the first second holds no more than the others. */
export function openPace(perSecond: number | undefined, nowMs: () => number): Pace {
  if (perSecond === undefined) return { isLimited: false, room: () => Infinity, spend: () => undefined };
  let saved = 0;
  let countedAt = nowMs();
  return {
    isLimited: true,
    room() {
      const now = nowMs();
      saved = Math.min(saved + ((now - countedAt) * perSecond) / 1_000, Math.max(1, (perSecond * SAVED_MS) / 1_000));
      countedAt = now;
      return Math.floor(saved);
    },
    spend(count) {
      saved -= count;
    },
  };
}
