import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../log.ts';
import type { Connection } from '../nats/connect-nats.ts';
import type { EventStream, EventStreams } from './event-streams.ts';
import { eventSubject } from '../layout/layout.ts';
import { ENVELOPE_HEADER, TRACE_HEADER } from './request-message.ts';

export type RequestToAppend = {
  sourceId: string;
  /** Of the source; `main` by default. The spare takes the request if the cell does not. */
  cell?: string | undefined;
  spare?: string | undefined;
  /** Equal for a client's retry of the same request, so that it is stored once. */
  id: string;
  /** Any number, equal for the same request: it decides the stream, because a stream only knows its own duplicates. */
  home: number;
  /** As JSON: shape, ids and times of the request. */
  envelope: string;
  /** W3C `traceparent`, when tracing is on. */
  trace?: string | undefined;
  body: Uint8Array;
};

export type Appended = { ok: true; stream: string; sequence: number; duplicate: boolean } | { ok: false; why: string };

export type AppendNeeds = { connection: Connection; events: Pick<EventStreams, 'streams' | 'publish'>; log: Logger };

/** How long a request waits for a lost connection before its client is told to come back. */
const RECONNECT_GRACE_MS = 600;
const DEADLINE_MS = 4_000;
const IN_PROCESS_PAUSE_MS = 50;

/**
 * Writes one accepted request. Resolves with the answer of NATS: it is stored and synced on a majority, or it is not. It goes to
 * its home stream, and to the next one while home has no leader. Home may have stored it without being able to answer, and the next
 * stream cannot know that: a request that moves may be stored twice (docs/inside/guarantees.md).
 */
export async function appendRequest(request: RequestToAppend, needs: AppendNeeds): Promise<Appended> {
  const giveUpAt = performance.now() + DEADLINE_MS;
  while (performance.now() < giveUpAt) {
    if (!(await isReachable(needs.connection))) return { ok: false, why: 'no NATS server can be reached' };
    const stream = pickStream(needs.events.streams, request.home);
    if (stream === undefined) return { ok: false, why: `no stream takes events: ${troubles(needs.events.streams)}` };
    const settled = await needs.events.publish(stream, {
      subject: eventSubject(stream.index, request.sourceId),
      id: request.id,
      headers:
        request.trace === undefined
          ? [[ENVELOPE_HEADER, request.envelope]]
          : [
              [ENVELOPE_HEADER, request.envelope],
              [TRACE_HEADER, request.trace],
            ],
      payload: request.body,
    });
    if (settled.kind === 'stored') {
      return { ok: true, stream: stream.name, sequence: settled.sequence, duplicate: settled.duplicate };
    }
    if (settled.kind === 'refused') {
      needs.log.error({ stream: stream.name, description: settled.description }, 'append.refused');
      return { ok: false, why: settled.description };
    }
    if (settled.kind === 'in_process') await sleep(IN_PROCESS_PAUSE_MS);
  }
  return { ok: false, why: `no answer within ${DEADLINE_MS} ms` };
}

/** The home stream, or the first one after it that is not in trouble. */
export function pickStream(streams: readonly EventStream[], home: number): EventStream | undefined {
  for (let step = 0; step < streams.length; step += 1) {
    const stream = streams[(home + step) % streams.length];
    if (stream !== undefined && stream.trouble === undefined) return stream;
  }
  return undefined;
}

async function isReachable(connection: Connection): Promise<boolean> {
  const lostAt = connection.lostAt();
  if (lostAt === undefined) return connection.isConnected();
  const patienceMs = lostAt + RECONNECT_GRACE_MS - performance.now();
  if (patienceMs > 0) await connection.reconnected(patienceMs);
  return connection.isConnected();
}

function troubles(streams: readonly EventStream[]): string {
  return streams.map((stream) => `${stream.name} ${stream.trouble ?? 'ok'}`).join(', ');
}
