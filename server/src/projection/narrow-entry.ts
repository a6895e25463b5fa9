import type { DestinationConfig, SourceConfig } from '../domain/configuration.ts';

export type NarrowedKind = 'source' | 'destination' | 'user';

/**
 * The part of a change that takes something away: the entry in effect without the revoked keys, disabled or paused if the new
 * entry is. The bucket gets it when the new entry as a whole finds no room. Undefined: the entry in effect is unreadable and
 * has to go.
 */
export function narrowEntry(kind: NarrowedKind, inEffect: string, wanted: string): string | undefined {
  const before = readObject(inEffect);
  const after = readObject(wanted);
  if (before === undefined || after === undefined) return undefined;
  if (kind === 'source') return JSON.stringify(narrowSource(before as SourceConfig, after as SourceConfig));
  if (kind === 'destination') {
    return JSON.stringify(narrowDestination(before as DestinationConfig, after as DestinationConfig));
  }
  return inEffect;
}

/** As `narrowEntry`, in a few bytes: for a bucket that has no room even for that. */
export function shortestEntry(kind: NarrowedKind, narrowed: string): string | undefined {
  const entry = readObject(narrowed);
  if (entry === undefined || kind === 'user') return undefined;
  if (kind === 'source') return JSON.stringify({ ...entry, ...OFF_SOURCE });
  // Empty settings cannot be opened, so nothing is sent; deliveries for a paused destination still wait.
  const { filters: _, resumedAt: __, ...kept } = entry as DestinationConfig;
  return JSON.stringify({ ...kept, name: '', settings: {} });
}

const OFF_SOURCE = { name: '', enabled: false, writeKeyHashes: [], blockedEvents: undefined };

function narrowSource(before: SourceConfig, after: SourceConfig): SourceConfig {
  const kept = new Set(after.writeKeyHashes);
  // Otherwise the old limits would win over those in its siblings' entries: processes believe the entry that was written last.
  const { limits } = lengthOf(after.limits) <= lengthOf(before.limits) ? after : before;
  return {
    ...before,
    ...(before.limits === undefined ? {} : { limits }),
    enabled: before.enabled && after.enabled,
    writeKeyHashes: before.writeKeyHashes.filter((hash) => kept.has(hash)),
  };
}

function lengthOf(value: unknown): number {
  return value === undefined ? 0 : JSON.stringify(value).length;
}

function narrowDestination(before: DestinationConfig, after: DestinationConfig): DestinationConfig {
  const isPaused = before.paused === true || after.paused === true;
  return { ...before, enabled: before.enabled && after.enabled, ...(isPaused ? { paused: true } : {}) };
}

function readObject(text: string): Record<string, unknown> | SourceConfig | DestinationConfig | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
