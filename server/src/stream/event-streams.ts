import type { Logger } from '../log.ts';
import type { Connection } from './connect-nats.ts';
import { eventStreamName } from './layout.ts';
import type { Publication, PublishAnswer, Publisher } from './publish.ts';

/** What came of one publication: the stream's answer, or how we know that none will come. */
export type Settled = PublishAnswer | { kind: 'silent' | 'lost'; description: string };

/** One EVENTS stream as this process sees it. */
export type EventStream = {
  index: number;
  name: string;
  /** Why new requests go elsewhere, if they do. */
  trouble: Settled['kind'] | undefined;
  /** Publications without an answer, oldest first. */
  waiting: Set<Waiting>;
  heardAt: number;
};

type Waiting = { since: number; losses: number; giveUp(settled: Settled): void };

export type EventStreams = Disposable & {
  streams: EventStream[];
  publish(stream: EventStream, publication: Publication): Promise<Settled>;
};
export type EventStreamsNeeds = { connection: Connection; publisher: Publisher; count: number; log: Logger };

/** A stream that owes answers and gives none for so long has no leader that we can reach. */
const SILENCE_MS = 800;
/** One answer that stays out this long was lost, even if the stream answers others. */
const ANSWER_TIMEOUT_MS = 4_000;
const SWEEP_MS = 100;

/** The streams, and a watch over the publications under way: no timer a message, a sweep looks at each stream. */
export function openEventStreams({ connection, publisher, count, log }: EventStreamsNeeds): EventStreams {
  const streams = Array.from({ length: count }, (_, index) => newStream(index));
  let sweptAt = performance.now();
  const sweeper = setInterval(() => {
    const now = performance.now();
    // If we were the ones who were away, answers may be in the socket, unread.
    const weStalled = now - sweptAt > SWEEP_MS * 3;
    sweptAt = now;
    for (const stream of streams) {
      giveUpLost(stream, connection.losses());
      if (!weStalled) giveUpSilent(stream, now);
    }
  }, SWEEP_MS);

  return {
    streams,
    publish: (stream, publication) =>
      new Promise((resolve) => {
        const settle = (settled: Settled) => {
          stream.waiting.delete(waiting);
          noteTrouble(stream, settled, log);
          resolve(settled);
        };
        const forget = publisher.publish(publication, (answer) => {
          stream.heardAt = performance.now();
          settle(answer);
        });
        const giveUp = (settled: Settled) => {
          forget();
          settle(settled);
        };
        const waiting = { since: performance.now(), losses: connection.losses(), giveUp };
        stream.waiting.add(waiting);
      }),
    [Symbol.dispose]: () => clearInterval(sweeper),
  };
}

function newStream(index: number): EventStream {
  return { index, name: eventStreamName(index), trouble: undefined, waiting: new Set(), heardAt: 0 };
}

/** What was sent over a connection that is gone is answered by nobody; the same id is sent again over the next one. */
function giveUpLost(stream: EventStream, losses: number): void {
  for (const waiting of stream.waiting) {
    if (waiting.losses === losses) break;
    waiting.giveUp({ kind: 'lost', description: 'the connection was lost before an answer came' });
  }
}

/**
 * A slow stream is not a silent one: it goes on answering others, and leaving it would write its messages twice.
 * So only a stream that answers nobody is given up as a whole.
 */
function giveUpSilent(stream: EventStream, now: number): void {
  const [oldest] = stream.waiting;
  if (oldest === undefined) return;
  const isSilent = now - Math.max(oldest.since, stream.heardAt) >= SILENCE_MS;
  for (const waiting of stream.waiting) {
    const waitedMs = Math.round(now - waiting.since);
    if (!isSilent && waitedMs < ANSWER_TIMEOUT_MS) break;
    waiting.giveUp({ kind: 'silent', description: `no answer for ${waitedMs} ms` });
  }
}

/** Only what is about the stream counts: `lost` is about the connection, `in_process` and `refused` about one message. */
function noteTrouble(stream: EventStream, settled: Settled, log: Logger): void {
  if (settled.kind === 'stored') {
    if (stream.trouble !== undefined) log.info({ stream: stream.name }, 'stream.recovered');
    stream.trouble = undefined;
  } else if (settled.kind === 'silent' || settled.kind === 'no_leader' || settled.kind === 'full') {
    if (stream.trouble === settled.kind) return;
    stream.trouble = settled.kind;
    log.warn({ stream: stream.name, trouble: settled.kind, description: settled.description }, 'stream.troubled');
  }
}
