/**
 * Writes changes of configuration to the bucket. Most of them fit, and are written together. The others are tried one by one: an
 * entry that is no longer than the one in effect replaces it; of a longer one the bucket gets only the part that takes something
 * away (narrow-entry.ts), and the change is refused with a reason. So no entry blocks the next one, and a disable always works. An
 * entry of a newer format is not overwritten: a newer control gets the change when it is tried again.
 */
import type { Projected } from '../store/outbox.ts';
import type { ConfigChange, ConfigRoom, ConfigWriter, CurrentEntry } from '../stream/config/config-writer.ts';
import { readEntry } from './config-poison.ts';
import { narrowEntry, shortestEntry } from './narrow-entry.ts';

export type EntryChange = ConfigChange & Projected;
export type Written = {
  written: EntryChange[];
  refused: { change: EntryChange; why: string }[];
  /** Not tried: the time was over. */
  left: EntryChange[];
};

/** The caller's transaction stays open meanwhile, and PostgreSQL ends one that is idle for ten seconds. */
const PATIENCE_MS = 5_000;
const MAX_TOGETHER_BYTES = 8_388_608;
/** NATS stores this much beside each value: the subject, headers, lengths. */
const ENTRY_OVERHEAD_BYTES = 300;
const NEWER = 'a newer version of control wrote its entry, and has to write this change too';
const LOOKS_AT_ONCE = 64;
const FULL = 'the configuration of all workspaces fills its bucket: delete what is not needed, or give NATS more room';

export async function writeChanges(changes: readonly EntryChange[], writer: ConfigWriter): Promise<Written> {
  const until = performance.now() + PATIENCE_MS;
  const newer = await findNewer(changes, writer);
  const ours = changes.filter((change) => !newer.has(change));
  const { together, oneByOne, left } = sort(ours, { room: await writer.room(), maxBytes: writer.maxValueBytes() });
  const refusals = new Set((await writer.write(together)).map(({ key }) => key));
  const refused = [...newer].map((change) => ({ change, why: NEWER }));
  const outcome: Written = { written: together.filter(({ key }) => !refusals.has(key)), refused, left };
  for (const change of [...together.filter(({ key }) => refusals.has(key)), ...oneByOne]) {
    if (performance.now() > until) {
      outcome.left.push(change);
      continue;
    }
    const why = await writeOne(change, writer);
    if (why === undefined) outcome.written.push(change);
    else outcome.refused.push({ change, why });
  }
  return outcome;
}

/**
 * Those whose entry in the bucket has a newer format. Only if it is authentic: an attacker without the key must not protect an entry. A row
 * that is gone has no format, and its entry goes.
 */
async function findNewer(changes: readonly EntryChange[], writer: ConfigWriter): Promise<Set<EntryChange>> {
  const newer = new Set<EntryChange>();
  const puts = changes.filter(({ value }) => value !== undefined);
  const look = async (change: EntryChange) => {
    const current = await writer.current(change.key);
    if (current.kind !== 'put' || current.verdict !== 'authentic') return;
    const read = readEntry(change.key, current.value);
    if (read?.ok === false && read.problem === 'newer') newer.add(change);
  };
  for (let start = 0; start < puts.length; start += LOOKS_AT_ONCE) {
    await Promise.all(puts.slice(start, start + LOOKS_AT_ONCE).map(look));
  }
  return newer;
}

/** A part of the bucket is reserved for changes that must always get through: disables, and erased users. */
export function usableBytes(maxBytes: number): number {
  const kept = Math.max(maxBytes * 0.05, 262_144);
  return Math.floor(maxBytes - Math.min(kept, maxBytes * 0.25));
}

/** Pure. Removals first: they make room. NATS counts a new entry before it drops the one that it replaces. */
function sort(changes: readonly EntryChange[], { room, maxBytes }: { room: ConfigRoom; maxBytes: number }) {
  const together: EntryChange[] = [];
  const oneByOne: EntryChange[] = [];
  const left: EntryChange[] = [];
  let used = room.usedBytes;
  for (const change of changes.toSorted((a, b) => Number(a.value !== undefined) - Number(b.value !== undefined))) {
    const bytes = sizeOf(change.value);
    const limit = change.value === undefined || change.kind === 'user' ? room.maxBytes : usableBytes(room.maxBytes);
    const fits = bytes <= maxBytes && used + bytes + ENTRY_OVERHEAD_BYTES < limit;
    if (!fits) oneByOne.push(change);
    else if (used - room.usedBytes > MAX_TOGETHER_BYTES) left.push(change);
    else {
      used += bytes + ENTRY_OVERHEAD_BYTES;
      together.push(change);
    }
  }
  return { together, oneByOne, left };
}

/** Returns the reason when the bucket did not take the whole change. */
async function writeOne(change: EntryChange, writer: ConfigWriter): Promise<string | undefined> {
  const { key, kind, value } = change;
  const current = await writer.current(key);
  const isGone = current.kind === 'deleted';
  if (value === undefined) return isGone ? undefined : (await writer.replace({ key, value }))?.why;
  const bytes = sizeOf(writer.textOf(key, value));
  if (current.kind === 'put' && bytes <= current.bytes) return (await writer.replace({ key, value }))?.why;
  if (kind === 'user') return (await writer.write([change]))[0] === undefined ? undefined : FULL;
  const maxBytes = writer.maxValueBytes();
  const why = bytes > maxBytes ? `its entry has ${bytes} bytes, and NATS takes at most ${maxBytes}` : FULL;
  if (current.kind === 'put') await narrow(change, current, value, writer);
  // Before a crash, the entry may have been removed to make room: watchers may still hold it.
  else if (!isGone) await writer.replace({ key, value: undefined });
  return why;
}

async function narrow(
  { key, kind }: EntryChange,
  inEffect: PutEntry,
  wanted: string,
  writer: ConfigWriter,
): Promise<void> {
  const narrowed = isDoubtful(kind, inEffect) ? shortestEntry(kind, wanted) : narrowEntry(kind, inEffect.value, wanted);
  if (narrowed === inEffect.value || wanted === inEffect.value) return;
  if ((await writer.replace({ key, value: narrowed })) === undefined || narrowed === undefined) return;
  const shortest = shortestEntry(kind, narrowed);
  const refusal = await writer.replace({ key, value: shortest });
  if (refusal !== undefined) await writer.replace({ key, value: undefined });
}

type PutEntry = Extract<CurrentEntry, { kind: 'put' }>;

/** We sign every entry we write, so it must not contain settings of a stranger. An unsigned source keeps only keys that its row has. */
function isDoubtful(kind: EntryChange['kind'], { verdict }: PutEntry): boolean {
  return verdict === 'forged' || (verdict === 'unsigned' && kind === 'destination');
}

function sizeOf(value = ''): number {
  return Buffer.byteLength(value);
}
