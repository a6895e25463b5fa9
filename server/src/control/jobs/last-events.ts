/**
 * The last events of a source, within bounds. A stream can only be read forwards, and holds the requests of all sources: so each
 * is looked at in windows of sequences from its end backwards, each window wide enough for what is still wanted.
 */
import type { AcceptedEvent } from '@millrace/contract';
import { openBreather } from '../../breathe.ts';
import type { EventReader, StoredEvents } from '../../stream/events/stored-events.ts';

export type LastEvents = {
  /** Oldest first. */
  events: AcceptedEvent[];
  /** The reason to stop: the first stored event, or one of the bounds. */
  endedBy: 'all' | 'last' | 'time' | 'size';
};

export type LastAsked = { sourceId: string; most: number; maxMs: number };

const READ_AT_ONCE = 64;
const FIRST_WIDTH = 64;
/** Where a window held nothing, the next is this many times as wide. */
const GROWTH = 8;
/** Events that are held at a time, as they are stored. */
const MAX_BYTES = 8_388_608;

type Held = { event: AcceptedEvent; storedAt: number; bytes: number };
type Kept = { held: Held[]; endedBy: LastEvents['endedBy'] };

export async function lastEvents(reader: EventReader, { sourceId, most, maxMs }: LastAsked): Promise<LastEvents> {
  const untilMs = performance.now() + maxMs;
  let kept: Kept = { held: [], endedBy: 'all' };
  for (let stream = 0; stream < reader.streams; stream += 1) {
    // The streams that are still to be read share the remaining time.
    const left = (untilMs - performance.now()) / (reader.streams - stream);
    const own = await lastOfStream(reader, { stream, sourceId, most, untilMs: performance.now() + left });
    const all = [...kept.held, ...own.held].toSorted((a, b) => a.storedAt - b.storedAt);
    kept = withinBounds(all, most, worse(kept.endedBy, own.endedBy));
  }
  return { events: kept.held.map(({ event }) => event), endedBy: kept.endedBy };
}

type StreamAsked = { stream: number; sourceId: string; most: number; untilMs: number };

async function lastOfStream(reader: EventReader, asked: StreamAsked): Promise<Kept> {
  const ends = await reader.ends(asked.stream);
  let kept: Kept = { held: [], endedBy: 'all' };
  if (ends === undefined) return kept;
  let before = ends.last + 1;
  let width = FIRST_WIDTH;
  while (before > ends.first && kept.endedBy === 'all') {
    const from = Math.max(ends.first, before - width);
    const older = await readWindow(reader, { ...asked, from, before });
    // Incomplete, so that it would leave a gap before what is newer.
    if (older === undefined) return { ...kept, endedBy: 'time' };
    kept = withinBounds([...older.held, ...kept.held], asked.most, older.endedBy);
    before = from;
    width = nextWidth(width, { seen: ends.last + 1 - before, found: kept.held.length, most: asked.most });
    // With exactly as many as wanted, only a look at what is older would tell whether these are all.
    if (kept.held.length >= asked.most && before > ends.first) return { ...kept, endedBy: 'last' };
  }
  return kept;
}

/** Wide enough for what is missing if older sequences hold as many events of the source as newer ones. */
function nextWidth(width: number, { seen, found, most }: { seen: number; found: number; most: number }): number {
  if (found === 0) return width * GROWTH;
  return Math.min(width * GROWTH, Math.max(FIRST_WIDTH, Math.ceil((seen / found) * (most - found) * 1.2)));
}

type Window = StreamAsked & { from: number; before: number };

/** The last events in a window that the bounds let through; undefined when there was no time to read to its end. */
async function readWindow(reader: EventReader, { stream, sourceId, most, untilMs, ...window }: Window) {
  const breathe = openBreather();
  let kept: Kept = { held: [], endedBy: 'all' };
  let { from } = window;
  for (;;) {
    const requests = await reader.read({ stream, sourceId, from }, READ_AT_ONCE);
    const inside = requests.filter(({ sequence }) => sequence < window.before);
    kept = withinBounds([...kept.held, ...inside.flatMap(holdEach)], most, kept.endedBy);
    await breathe();
    const last = requests.at(-1);
    if (last === undefined || inside.length < requests.length || last.sequence + 1 >= window.before) return kept;
    if (performance.now() >= untilMs) return undefined;
    from = last.sequence + 1;
  }
}

function holdEach({ events, storedAt, bytes }: StoredEvents): Held[] {
  return events.map((event) => ({ event, storedAt, bytes: bytes / events.length }));
}

/** Drops the oldest that are too many or too large. */
function withinBounds(held: readonly Held[], most: number, endedBy: LastEvents['endedBy']): Kept {
  let bytes = 0;
  let at = held.length;
  while (at > 0 && held.length - at < most) {
    bytes += held[at - 1]?.bytes ?? 0;
    if (bytes > MAX_BYTES) return { held: held.slice(at), endedBy: worse(endedBy, 'size') };
    at -= 1;
  }
  return { held: held.slice(at), endedBy: at > 0 ? worse(endedBy, 'last') : endedBy };
}

const ORDER: readonly LastEvents['endedBy'][] = ['all', 'last', 'size', 'time'];

function worse(a: LastEvents['endedBy'], b: LastEvents['endedBy']): LastEvents['endedBy'] {
  return ORDER.indexOf(a) < ORDER.indexOf(b) ? b : a;
}
