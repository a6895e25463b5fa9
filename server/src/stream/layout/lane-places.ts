/**
 * A lane's home is the stream that its hash chooses among the lane streams. With another number of streams it is another one,
 * and until the deliveries in the former home are done a lane is in two places. Each tier of the former home is then read as a
 * tier of its own, with a number that names the stream: positions in one stream mean nothing in another.
 */

/** Higher than any tier. */
const ELSEWHERE = 1_000;

/** A tier of a lane, in the stream with this number. */
export type TierPlace = { tier: number; stream: number };

/** The number of a tier among all tiers of a lane; in the lane's home, that of the retry schedule. */
export function tierNumber({ tier, stream }: TierPlace, home: number): number {
  return stream === home ? tier : (stream + 1) * ELSEWHERE + tier;
}

export function tierPlace(number: number, home: number): TierPlace {
  if (number < ELSEWHERE) return { tier: number, stream: home };
  return { tier: number % ELSEWHERE, stream: Math.floor(number / ELSEWHERE) - 1 };
}

/** Where a lane may be, by each number of streams that processes use or used: its home first. */
export function homesOf(destinationId: string, counts: readonly number[]): number[] {
  const hash = hashOf(destinationId);
  return [...new Set(counts.map((count) => hash % count))];
}

/** Which lane stream a destination belongs to must be the same in every process, so no seeds: FNV-1a. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}
