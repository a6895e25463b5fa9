/**
 * Who may still store in a stream that all workspaces share: dynamic thresholds, as switches use them for their buffers. A
 * destination and a workspace may each hold a multiple of what is free. The fuller the stream, the smaller every share, so the
 * largest holders are stopped first, and what they leave free is there for those who hold little.
 */

/** One destination alone may hold a quarter of the stream: 1/4 = 1/3 × 3/4. */
const DESTINATION_SHARE = 1 / 3;
/** All destinations of one workspace together may hold half of it. Four greedy workspaces leave a fifth for others. */
const WORKSPACE_SHARE = 1;

/** What a stream held when it was last asked, and what was stored since as far as this process can tell. */
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

/** Below this nobody can be over a share, so nobody needs to be told apart. */
export function isCrowded({ maxBytes, usedBytes }: Pick<StreamUsage, 'maxBytes' | 'usedBytes'>): boolean {
  return maxBytes > 0 && usedBytes > (maxBytes - usedBytes) * Math.min(DESTINATION_SHARE, WORKSPACE_SHARE);
}

/** Messages of one destination, and what one of them takes as far as this process knows. */
export type Held = { messages: number; bytesEach: number | undefined };

/**
 * Bytes by destination from what the engine tells: the messages of each, and the bytes of all. Where this process has stored
 * some itself it knows their size, and for the others it takes the average. What the sum lacks is added to all in proportion:
 * given to the others alone, it would make hogs of those who hold little and are known to another process only.
 */
export function divideBytes(usedBytes: number, held: ReadonlyMap<string, Held>): Map<string, number> {
  const messages = held.values().reduce((sum, one) => sum + one.messages, 0);
  const average = messages === 0 ? 0 : usedBytes / messages;
  const bytesOf = (one: Held) => one.messages * (one.bytesEach ?? average);
  const sum = held.values().reduce((bytes, one) => bytes + bytesOf(one), 0);
  const scale = sum === 0 ? 1 : usedBytes / sum;
  return new Map([...held].map(([destinationId, one]) => [destinationId, bytesOf(one) * scale]));
}

/** Counts what was stored in the meantime. */
export function addBytes(usage: StreamUsage, { destinationId, workspaceId }: Owner, bytes: number): void {
  usage.usedBytes += bytes;
  usage.byDestination.set(destinationId, (usage.byDestination.get(destinationId) ?? 0) + bytes);
  if (workspaceId === undefined) return;
  usage.byWorkspace.set(workspaceId, (usage.byWorkspace.get(workspaceId) ?? 0) + bytes);
}
