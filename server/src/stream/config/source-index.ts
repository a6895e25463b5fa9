import { MAIN_CELL, type ProjectedLimits, type SourceConfig } from '../../domain/configuration.ts';
import { type Stored, unreadable } from '../../domain/format.ts';
import { readSourceConfig } from '../../domain/read-config.ts';
import { NO_RECORD, openByteTable } from './byte-table.ts';
import { readOrKeep } from './read-or-keep.ts';
import { openRecent } from './recent.ts';

export type SourceIndex = ReturnType<typeof indexSources>;

type Opened = { source: SourceConfig; blocked: ReadonlySet<string> | undefined };

const ONLY_MAIN = [MAIN_CELL];
/** Opened sources in each of the two generations of the cache. */
const MOST_OPENED = 5_000;

/** Sources by id, and by each of their keys if this process looks for keys. They are kept as bytes, and opened when they are used. */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function indexSources({ hasKeys }: { hasKeys: boolean } = { hasKeys: true }) {
  const texts = openByteTable();
  /** The id of the source that has a key. */
  const owners = openByteTable();
  /** Sources whose deletion this process has seen. */
  const gone = openRecent<true>(MOST_OPENED);
  const opened = openRecent<Opened>(MOST_OPENED);
  const openedByHash = openRecent<SourceConfig>(MOST_OPENED);
  /** By workspace. All its sources carry the same limits: the entry that was written last is right. */
  const limits = new Map<string, ProjectedLimits>();

  function open(id: string): Opened | undefined {
    const known = opened.get(id);
    if (known !== undefined) return known;
    const record = texts.find(id);
    return record === NO_RECORD ? undefined : keepOpen(id, readOrKeep(readSource(id, texts.textOf(record))));
  }

  function keepOpen(id: string, source: SourceConfig): Opened {
    const blocked = source.blockedEvents === undefined ? undefined : new Set(source.blockedEvents);
    const value = { source, blocked };
    opened.set(id, value);
    return value;
  }

  /** A key may have moved to another source meanwhile: only the keys that are still this one's are removed. */
  function dropKeys(id: string): void {
    for (const hash of open(id)?.source.writeKeyHashes ?? []) {
      if (ownerOf(hash) === id) owners.remove(hash);
      openedByHash.delete(hash);
    }
  }

  function addKey(hash: string, id: string): void {
    owners.put(hash, id);
    openedByHash.delete(hash);
  }

  function ownerOf(hash: string): string | undefined {
    const record = owners.find(hash);
    return record === NO_RECORD ? undefined : owners.textOf(record);
  }

  return {
    /** Throws for an entry that is unreadable or of a newer format: the one before stays. */
    set(id: string, text: string | undefined): void {
      const source = text === undefined ? undefined : readOrKeep(readSource(id, text));
      if (hasKeys) dropKeys(id);
      opened.delete(id);
      if (source === undefined || text === undefined) {
        texts.remove(id);
        gone.set(id, true);
        return;
      }
      texts.put(id, text);
      gone.delete(id);
      if (source.limits === undefined) limits.delete(source.workspaceId);
      else limits.set(source.workspaceId, source.limits);
      if (hasKeys) for (const hash of source.writeKeyHashes) addKey(hash, id);
    },
    limits: (): ReadonlyMap<string, ProjectedLimits> => limits,
    has: (id: string): boolean => texts.find(id) !== NO_RECORD,
    size: texts.size,
    workspaceOf: (id: string): string | undefined => open(id)?.source.workspaceId,
    byKeyHash(hash: string): SourceConfig | undefined {
      const known = openedByHash.get(hash);
      if (known !== undefined) return known;
      const id = ownerOf(hash);
      const source = id === undefined ? undefined : open(id)?.source;
      if (source !== undefined) openedByHash.set(hash, source);
      return source;
    },
    /** The cells that may have requests of it; undefined for a source that is not known. */
    cellsOf(id: string): readonly string[] | undefined {
      const source = open(id)?.source;
      return source && (source.cells ?? ONLY_MAIN);
    },
    wasDeleted: (id: string): boolean => gone.get(id) === true,
    isEventBlocked: (id: string, event: string): boolean => open(id)?.blocked?.has(event) === true,
  };
}

function readSource(id: string, text: string): Stored<SourceConfig> {
  const read = readSourceConfig(text);
  return read.ok && read.value.id !== id ? unreadable('a source of another id') : read;
}
