import type { DestinationConfig } from '../../domain/configuration.ts';
import { unreadable } from '../../domain/format.ts';
import { type DestinationOwner, type ReadDestination, readDestinationConfig } from '../../domain/read-config.ts';
import { NO_RECORD, openByteTable } from './byte-table.ts';
import { packText, unpackText } from './pack-text.ts';
import { openRecent } from './recent.ts';
import { openChains } from './chains.ts';

export type DestinationIndex = ReturnType<typeof indexDestinations>;

const NONE: readonly DestinationConfig[] = [];
/** Opened destinations in each of the two generations of the cache, and likewise those in lists of sources. */
const MOST_OPENED = 5_000;

/**
 * Destinations by id and by source. They are kept as bytes, and opened when they are used: of a million destinations most are
 * quiet. An opened one is the same object until it changes or the cache drops it.
 */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function indexDestinations() {
  const texts = openByteTable();
  const bySource = openChains();
  const opened = openRecent<DestinationConfig>(MOST_OPENED);
  const lists = openRecent<readonly DestinationConfig[]>(MOST_OPENED);
  const former = rememberFormer();

  function open(id: string, record: number): DestinationConfig {
    const known = opened.get(id);
    if (known !== undefined) return known;
    const config = understood(unpackText(texts.textOf(record)), { id, sourceId: bySource.nameOf(record) });
    opened.set(id, config);
    return config;
  }

  function remove(id: string, record: number): void {
    former.remember(open(id, record));
    lists.delete(bySource.leave(record));
    opened.delete(id);
    texts.remove(id);
  }

  return {
    former: former.ownerOf,
    set(id: string, text: string | undefined): void {
      const before = texts.find(id);
      if (text === undefined) {
        if (before !== NO_RECORD) remove(id, before);
        return;
      }
      const sourceBefore = before === NO_RECORD ? undefined : bySource.leave(before);
      if (sourceBefore !== undefined) lists.delete(sourceBefore);
      opened.delete(id);
      const sourceId = sourceOf(text) ?? sourceBefore ?? '';
      bySource.join(sourceId, texts.put(id, packText(text)));
      lists.delete(sourceId);
    },
    has: (id: string): boolean => texts.find(id) !== NO_RECORD,
    size: texts.size,
    byId(id: string): DestinationConfig | undefined {
      const known = opened.get(id);
      if (known !== undefined) return known;
      const record = texts.find(id);
      return record === NO_RECORD ? undefined : open(id, record);
    },
    ofSource(sourceId: string): readonly DestinationConfig[] {
      const known = lists.get(sourceId);
      if (known !== undefined) return known;
      const list = bySource.members(sourceId).map((record) => open(texts.keyOf(record), record));
      if (list.length === 0) return NONE;
      lists.set(sourceId, list, list.length);
      return list;
    },
  };
}

/** Enough for the destinations whose lanes are being given up. */
const REMEMBERED = 10_000;

/** The owners of destinations that were deleted lately. */
function rememberFormer() {
  const owners = new Map<string, DestinationOwner>();
  return {
    ownerOf: (id: string): DestinationOwner | undefined => owners.get(id),
    remember({ id, workspaceId, sourceId }: DestinationConfig): void {
      owners.delete(id);
      owners.set(id, { workspaceId, sourceId });
      const [oldest] = owners.keys();
      if (owners.size > REMEMBERED && oldest !== undefined) owners.delete(oldest);
    },
  };
}

/** An unreadable destination still exists: were it missing, its deliveries would be given up as those of a deleted one. */
function understood(text: string, { id, sourceId }: Pick<DestinationConfig, 'id' | 'sourceId'>): DestinationConfig {
  const read = readDestination(id, text);
  if (read.ok) return read.value;
  const workspaceId = read.owner?.workspaceId ?? '';
  const nothing = {
    catalog: '',
    name: id,
    enabled: true,
    paused: true,
    settings: {},
    updatedAt: new Date(0).toISOString(),
  };
  return { id, workspaceId, sourceId, ...nothing, notUnderstood: read.why };
}

/** One that names another id would put events into the lane of that one. */
function readDestination(id: string, text: string): ReadDestination {
  const read = readDestinationConfig(text);
  const isOther = read.ok && read.value.id !== id;
  return isOther ? { ...unreadable('a destination of another id'), owner: read.value } : read;
}

/** As control writes it: found without parsing the rest, because all entries are read at a start and most of them are quiet. */
const AS_WRITTEN = /^\{"id":"[\w-]*","workspaceId":"[\w-]*","sourceId":"([\w-]*)"/;

/** Every version has this field. */
function sourceOf(text: string): string | undefined {
  const [, found] = AS_WRITTEN.exec(text) ?? [];
  if (found !== undefined) return found;
  try {
    const value = JSON.parse(text) as { sourceId?: unknown } | null;
    return typeof value?.sourceId === 'string' ? value.sourceId : undefined;
  } catch {
    return undefined;
  }
}
