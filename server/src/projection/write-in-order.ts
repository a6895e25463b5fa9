/**
 * Deliver takes requests of a source as soon as the source's entry names its cell. So an entry that names the cell for the first time is written
 * when all its destinations are in the bucket: that of a new spare gets requests at once. Until then the change is refused, requests of the
 * source are given back, and wait in their stream: taken up, they would find no destination, and be acknowledged without a delivery.
 */
import { MAIN_CELL, NO_CELL } from '../domain/configuration.ts';
import { readSourceConfig } from '../domain/read-config.ts';
import type { Tx } from '../store/open-store.ts';
import { unwrittenDestinations } from '../store/projection-failures.ts';
import { configKey } from '../stream/config/config-bucket.ts';
import type { ConfigWriter } from '../stream/config/config-writer.ts';
import { narrowEntry } from './narrow-entry.ts';
import { type EntryChange, writeChanges, type Written } from './write-changes.ts';

export type OrderNeeds = {
  tx: Tx;
  configWriter: ConfigWriter;
  cell: string;
  /** The ids of sources of several cells. */
  spread: readonly string[];
};

const LATER = 'later';

export async function writeInOrder(changes: readonly EntryChange[], needs: OrderNeeds): Promise<Written> {
  const { configWriter, spread } = needs;
  const isSpread = ({ kind, objectId }: EntryChange) => kind === 'source' && spread.includes(objectId);
  const sources = changes.filter(isSpread);
  if (sources.length === 0) return writeChanges(changes, configWriter);
  const others = changes.filter((each) => !isSpread(each));
  const first = others.length === 0 ? NOTHING : await writeChanges(others, configWriter);
  const held = await findHeld(sources, first, needs);
  const ready = sources.filter(({ objectId }) => !held.has(objectId));
  const second = ready.length === 0 ? NOTHING : await writeChanges(ready, configWriter);
  const outcome: Written = {
    written: [...first.written, ...second.written],
    refused: [...first.refused, ...second.refused],
    left: [...first.left, ...second.left],
  };
  for (const change of sources) {
    const why = held.get(change.objectId);
    if (why === LATER) outcome.left.push(change);
    else if (why !== undefined) {
      await takeAway(change, configWriter);
      outcome.refused.push({ change, why });
    }
  }
  return outcome;
}

const NOTHING: Written = { written: [], refused: [], left: [] };

/** Why each of these sources cannot be written yet. */
async function findHeld(
  sources: readonly EntryChange[],
  { written, refused, left }: Written,
  { tx, configWriter, cell }: OrderNeeds,
): Promise<Map<string, string>> {
  const tried = [...left, ...refused.map(({ change }) => change)].map(({ objectId }) => objectId);
  const sourceIds = sources.map(({ objectId }) => objectId);
  const done = new Set(written.map(({ objectId }) => objectId));
  const untried = new Set(left.map(({ objectId }) => objectId));
  const held = new Map<string, string>();
  for (const { id, source_id: sourceId } of await unwrittenDestinations(tx, { sourceIds, tried, cell })) {
    if (done.has(id) || held.has(sourceId)) continue;
    // An older entry of the destination is better than none.
    if ((await configWriter.current(configKey.destination(id))).kind === 'put') continue;
    const source = sources.find(({ objectId }) => objectId === sourceId);
    if (source === undefined || !(await isNewHere(source, cell, configWriter))) continue;
    held.set(
      sourceId,
      untried.has(id) ? LATER : `its destination ${id} found no room in the bucket of the cell ${cell}`,
    );
  }
  return held;
}

/**
 * Whether the entry would tell deliver for the first time to take requests of a source that others send to already. If deliver takes them, or
 * the source is new everywhere, to hold the entry would only delay it.
 */
async function isNewHere({ key, value = '' }: EntryChange, cell: string, writer: ConfigWriter): Promise<boolean> {
  const current = await writer.current(key);
  if (current.kind === 'put') return !cellsOf(current.value).all.includes(cell);
  return cellsOf(value).hasMoved;
}

function cellsOf(text: string): { all: readonly string[]; hasMoved: boolean } {
  const read = readSourceConfig(text);
  if (!read.ok) return { all: [], hasMoved: false };
  const { cell = MAIN_CELL, spare, cells = [MAIN_CELL] } = read.value;
  return { all: cells, hasMoved: cell !== NO_CELL && cells.some((each) => each !== cell && each !== spare) };
}

/** Revoked keys and a disable take effect at once, in the entry that is there. */
async function takeAway({ key, value }: EntryChange, writer: ConfigWriter): Promise<void> {
  const current = await writer.current(key);
  if (current.kind !== 'put' || current.verdict !== 'authentic' || value === undefined) return;
  const narrowed = narrowEntry('source', current.value, value);
  if (narrowed !== undefined && narrowed !== current.value) await writer.replace({ key, value: narrowed });
}
