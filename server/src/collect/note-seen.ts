import { randomUUID } from 'node:crypto';
import type { RequestShape } from '@millrace/contract';
import type { Sighting } from '../stream/signals/sightings.ts';
import type { KeyFound } from './find-write-key.ts';
import { callsOf } from './hide-key.ts';
import { every } from '../pause.ts';

export type SeenNeeds = { tell(sighting: Sighting): void; nowMs(): number };
export type Seen = Disposable & {
  /** Called with every accepted request, so it only remembers. */
  note(found: KeyFound, body: unknown, shape: RequestShape): void;
  /** Calls that were dropped because their user is suppressed. */
  noteSuppressed(source: KeyFound['source'], calls: number): void;
};

/** Dropped calls of a source since the day, or this process, began. */
type Dropped = {
  workspaceId: string;
  sourceId: string;
  day: string;
  count: number;
  toldCount: number;
  toldAt: number;
};

type Pending = { workspaceId: string; keyHashes: Set<string>; events: Set<string> };

const TELL_EVERY_MS = 2_000;
/** The same key or name is told again only after this long. */
const AGAIN_MS = 60_000;
const MAX_REMEMBERED = 100_000;
const MAX_NAME_LENGTH = 1_000;
/** Keeps a sighting well below what one message may hold. */
const MAX_EVENTS_TOLD = 200;

/** Tells control every two seconds which write keys are in use and which track events come in. */
export function openSeen({ tell, nowMs }: SeenNeeds): Seen {
  const pending = new Map<string, Pending>();
  const isNews = newsFilter(nowMs);
  const suppressed = countSuppressed(nowMs);

  function pendingOf({ id, workspaceId }: KeyFound['source']): Pending {
    const known = pending.get(id);
    if (known !== undefined) return known;
    const made = { workspaceId, keyHashes: new Set<string>(), events: new Set<string>() };
    pending.set(id, made);
    return made;
  }

  function noteEvent(source: KeyFound['source'], call: unknown): void {
    const name = typeof call === 'object' && call !== null && 'event' in call ? call.event : undefined;
    if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_LENGTH) return;
    if (!isNews(`${source.id} ${name}`)) return;
    const { events } = pendingOf(source);
    if (events.size < MAX_EVENTS_TOLD) events.add(name);
  }

  function tellAll(): void {
    const at = new Date(nowMs()).toISOString();
    for (const [sourceId, { workspaceId, keyHashes, events }] of pending) {
      tell({ workspaceId, sourceId, keyHashes: [...keyHashes], events: [...events], at });
    }
    pending.clear();
    for (const sighting of suppressed.toTell()) tell({ ...sighting, keyHashes: [], events: [], at });
  }

  const timer = every(TELL_EVERY_MS, tellAll);
  return {
    note({ source, keyHash }, body, shape) {
      if (isNews(keyHash)) pendingOf(source).keyHashes.add(keyHash);
      if (shape === 'track') noteEvent(source, body);
      for (const call of callsOf(body, shape)) noteEvent(source, call);
    },
    noteSuppressed: suppressed.note,
    [Symbol.dispose]() {
      timer[Symbol.dispose]();
      tellAll();
    },
  };
}

type SuppressedSighting = Required<Pick<Sighting, 'workspaceId' | 'sourceId' | 'suppressed'>>;

/** Each sighting carries the whole count, and is repeated: so a lost message changes nothing in the end. */
function countSuppressed(nowMs: () => number) {
  const process = randomUUID();
  const byDay = new Map<string, Dropped>();
  return {
    note({ id, workspaceId }: KeyFound['source'], calls: number): void {
      const day = new Date(nowMs()).toISOString().slice(0, 10);
      const key = `${id} ${day}`;
      const known = byDay.get(key) ?? { workspaceId, sourceId: id, day, count: 0, toldCount: 0, toldAt: 0 };
      known.count += calls;
      byDay.set(key, known);
    },
    toTell(): SuppressedSighting[] {
      const today = new Date(nowMs()).toISOString().slice(0, 10);
      return [...byDay].flatMap(([key, dropped]) => {
        const { workspaceId, sourceId, day, count } = dropped;
        // Told twice after its day was over: by then control has it, or was away for a minute.
        if (day < today && count === dropped.toldCount && nowMs() - dropped.toldAt >= AGAIN_MS) byDay.delete(key);
        if (count === dropped.toldCount && nowMs() - dropped.toldAt < AGAIN_MS) return [];
        dropped.toldCount = count;
        dropped.toldAt = nowMs();
        return [{ workspaceId, sourceId, suppressed: { process, day, count } }];
      });
    },
  };
}

function newsFilter(nowMs: () => number): (what: string) => boolean {
  const toldAt = new Map<string, number>();
  return (what) => {
    const now = nowMs();
    if (now - (toldAt.get(what) ?? -Infinity) < AGAIN_MS) return false;
    if (toldAt.size >= MAX_REMEMBERED) toldAt.clear();
    toldAt.set(what, now);
    return true;
  };
}
