import { randomBytes } from 'node:crypto';
import { OutcomeLine, OutcomeStreamQuery } from '@millrace/contract/control';
import { awaitRecorders } from '../../../store/deliveries.ts';
import { StoreUnavailable } from '../../../store/open-store.ts';
import { type Chunk, chunksFrom, tagAt, wantExport } from '../../../store/outcome-exports.ts';
import { pause } from '../../../pause.ts';
import { ApiProblem } from '../../problems/problems.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { type Send, type StreamEvent, type StreamRoute, streamRoute } from '../../http/stream-route.ts';

/** Each reader asks PostgreSQL twice a second. */
const MOST_READERS = 4;
const LOOK_MS = 500;
/** How often a reader says that it still wants the outcomes. */
const WANT_MS = 60_000;
const TROUBLE_MS = 1_000;
/** A client that reads slowly is asked so often whether it takes more. */
const FULL_MS = 100;
const DAY_MS = 86_400_000;
const LEAST_KEPT_MS = 3_600_000;

export const outcomeStreamRoutes: StreamRoute[] = [
  streamRoute({
    isStream: true,
    form: 'lines',
    method: 'GET',
    url: '/api/v1/outcomes/stream',
    summary: 'Outcomes of deliveries as they are recorded, as NDJSON, from a cursor on',
    permission: 'deliveries:read',
    query: OutcomeStreamQuery,
    answer: OutcomeLine,
    status: 200,
    mostOpen: MOST_READERS,
    check: () => Promise.resolve(),
    async begin({ actor, query }, needs) {
      await findPlace(actor.workspaceId, query.cursor, needs);
    },
    open: ({ actor, query }, send, needs) => follow({ workspaceId: actor.workspaceId, send, needs }, query.cursor),
  }),
];

/** A reader has seen all outcomes up to the position, in one generation of the log. */
type Place = { generation: string; position: number; tag: string };

const toCursor = ({ generation, position, tag }: Place): string => `${generation}-${position}-${tag}`;

function readCursor(cursor: string): Place {
  const [, generation, position, tag] = /^([0-9a-f]{12})-(\d{1,15})-([0-9a-f]{12})$/.exec(cursor) ?? [];
  if (generation === undefined || tag === undefined) throw new ApiProblem('invalid_cursor');
  return { generation, position: Number(position), tag };
}

/**
 * Where the reader goes on. A cursor is gone if outcomes after it may be missing: the log stopped in between or dropped them, or the
 * database is an older one, restored.
 */
async function findPlace(workspaceId: string, cursor: string | undefined, { store, exportKeptMs }: ControlNeeds) {
  const from = cursor === undefined ? undefined : readCursor(cursor);
  const forMs = Math.max(LEAST_KEPT_MS, exportKeptMs ?? DAY_MS);
  const generation = randomBytes(6).toString('hex');
  const place = await store.inWorkspace(workspaceId, async (tx): Promise<Place> => {
    const head = await wantExport(tx, workspaceId, { generation, forMs });
    if (from === undefined) return head;
    if (from.generation !== head.generation || from.position > head.position) throw new ApiProblem('cursor_gone');
    const [chunk] = await chunksFrom(tx, workspaceId, from.position, 1);
    const tag = chunk === undefined ? head.tag : chunk.tag;
    const isOurs = (chunk !== undefined && chunk.first > from.position) || tag === from.tag;
    const isWhole = chunk === undefined ? from.position === head.position : chunk.first <= from.position + 1;
    if (!isOurs || !isWhole) throw new ApiProblem('cursor_gone');
    return from;
  });
  // Recorders at work did not see that the log begins: their outcomes are committed without a place in it.
  if (place.generation === generation) await store.asSystem(awaitRecorders);
  return place;
}

type Reader = { workspaceId: string; send: Send; needs: ControlNeeds };

/** Reads a chunk when the client has taken the one before: a slow client costs a chunk of memory, and no transaction waits for it. */
function follow(reader: Reader, cursor: string | undefined): Disposable & { over: Promise<string> } {
  const life = new AbortController();
  const over = run(reader, cursor, life.signal).catch((error: unknown) => {
    if (error instanceof ApiProblem) return error.code;
    reader.needs.log.error({ error: String(error) }, 'outcome_stream.failed');
    return 'internal';
  });
  return { over, [Symbol.dispose]: () => life.abort() };
}

async function run(reader: Reader, cursor: string | undefined, signal: AbortSignal): Promise<string> {
  const { workspaceId, needs } = reader;
  let place = await findPlace(workspaceId, cursor, needs);
  let wantedAt = performance.now();
  await sendAll([{ kind: 'open', cursor: toCursor(place) }], reader.send, signal);
  while (!signal.aborted) {
    try {
      if (performance.now() - wantedAt > WANT_MS) {
        await findPlace(workspaceId, toCursor(place), needs);
        wantedAt = performance.now();
      }
      const chunk = await nextChunk(workspaceId, place, needs);
      if (chunk === undefined) await pause(LOOK_MS, signal);
      else place = await sendChunk(chunk, place, reader.send, signal);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      // It may be another database afterwards, restored: the place is checked again.
      wantedAt = -Infinity;
      await pause(TROUBLE_MS, signal);
    }
  }
  return 'closed';
}

/**
 * Undefined when nothing is recorded since. A server that was behind may have taken the place of the database: its log has other tags, and
 * perhaps outcomes that the reader never saw.
 */
function nextChunk(workspaceId: string, place: Place, { store }: ControlNeeds): Promise<Chunk | undefined> {
  return store.readWorkspace(workspaceId, async (tx) => {
    const [chunk] = await chunksFrom(tx, workspaceId, place.position + 1, 1);
    const tag = chunk === undefined ? undefined : await tagAt(tx, workspaceId, place.position);
    if (tag !== undefined && tag !== place.tag) throw new ApiProblem('cursor_gone');
    return chunk;
  });
}

/** Returns the place after it. */
async function sendChunk(chunk: Chunk, place: Place, send: Send, signal: AbortSignal): Promise<Place> {
  const { generation, position } = place;
  if (chunk.first > position + 1) throw new ApiProblem('cursor_gone');
  const { tag, first, last } = chunk;
  const outcomes = JSON.parse(chunk.outcomes) as StreamEvent[];
  const lines = outcomes.slice(position + 1 - first).map((line, index) => {
    return { ...line, cursor: toCursor({ generation, position: position + 1 + index, tag }) };
  });
  await sendAll(lines, send, signal);
  return { generation, position: last, tag };
}

async function sendAll(lines: StreamEvent[], send: Send, signal: AbortSignal): Promise<void> {
  for (const line of lines) {
    while (!signal.aborted && !send(line)) await pause(FULL_MS, signal);
  }
}
