/**
 * Shares of a stream that all workspaces use: dynamic thresholds, as switches use them for their buffers. A destination and a
 * workspace may each hold a multiple of the free bytes. The fuller the stream, the smaller every share, so the largest holders are
 * stopped first, and the small ones still find room.
 */

/** One destination alone may hold a quarter of the stream: 1/4 = 1/3 × 3/4. */
const DESTINATION_SHARE = 1 / 3;
/** All destinations of one workspace together may hold half of it. Four greedy workspaces leave a fifth for others. */
const WORKSPACE_SHARE = 1;

/** The contents of a stream when it was last asked, and the bytes stored since as far as this process can tell. */
export type StreamUsage = {
  maxBytes: number;
  usedBytes: number;
  byDestination: Map<string, number>;
  byWorkspace: Map<string, number>;
};

export type Owner = { destinationId: string; workspaceId: string | undefined };

export function freeBytes({ maxBytes, usedBytes }: StreamUsage): number {
  return maxBytes <= 0 ? Infinity : Math.max(0, maxBytes - usedBytes);
}

/** How much of its share an owner has used: above 1 it may store no more. */
export function usedShare(usage: StreamUsage, { destinationId, workspaceId }: Owner): number {
  const free = freeBytes(usage);
  const ofDestination = (usage.byDestination.get(destinationId) ?? 0) / DESTINATION_SHARE;
  const ofWorkspace = workspaceId === undefined ? 0 : (usage.byWorkspace.get(workspaceId) ?? 0) / WORKSPACE_SHARE;
  const most = Math.max(ofDestination, ofWorkspace);
  if (most === 0) return 0;
  return free === 0 ? Infinity : most / free;
}

/** The most that one destination may hold now. */
export function destinationLimit(usage: StreamUsage): number {
  return freeBytes(usage) * DESTINATION_SHARE;
}

/** Below this no destination can be over its share, so they need not be told apart. */
export function isCrowded({ maxBytes, usedBytes }: Pick<StreamUsage, 'maxBytes' | 'usedBytes'>): boolean {
  return maxBytes > 0 && usedBytes > (maxBytes - usedBytes) * Math.min(DESTINATION_SHARE, WORKSPACE_SHARE);
}

/** Messages of one destination, and the size of one as far as this process knows. */
export type Held = { messages: number; bytesEach: number | undefined };

/**
 * Bytes by destination. NATS tells the messages of each, and the bytes of all. For a destination that this process stores for, it
 * knows the size of a message; for the others it takes the average. The difference to the real sum is divided in proportion: given
 * to the others alone, it would make hogs of small destinations that only another process stores for.
 */
export function divideBytes(usedBytes: number, held: ReadonlyMap<string, Held>): Map<string, number> {
  const messages = held.values().reduce((sum, one) => sum + one.messages, 0);
  const average = messages === 0 ? 0 : usedBytes / messages;
  const bytesOf = (one: Held) => one.messages * (one.bytesEach ?? average);
  const sum = held.values().reduce((bytes, one) => bytes + bytesOf(one), 0);
  const scale = sum === 0 ? 1 : usedBytes / sum;
  return new Map([...held].map(([destinationId, one]) => [destinationId, bytesOf(one) * scale]));
}

/** Counts bytes that were stored since the last answer. */
export function addBytes(usage: StreamUsage, { destinationId, workspaceId }: Owner, bytes: number): void {
  usage.usedBytes += bytes;
  usage.byDestination.set(destinationId, (usage.byDestination.get(destinationId) ?? 0) + bytes);
  if (workspaceId === undefined) return;
  usage.byWorkspace.set(workspaceId, (usage.byWorkspace.get(workspaceId) ?? 0) + bytes);
}
