/**
 * The event streams as collect sees them. A stream takes requests, or is in trouble: `silent`, `no_leader` or `full`. Answers and the
 * sweep put it into trouble, and requests then go to the next stream; a stored request or a probe (`probe-streams.ts`) takes it out.
 * A publication waits for its answer until the stream answers, the connection is lost, or the sweep gives it up.
 */
import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics/open-metrics.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { eventStreamName } from '../layout/layout.ts';
import type { Publication, PublishAnswer, Publisher } from '../nats/publish.ts';

/** The result of one publication: the stream's answer, or why none will come. */
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
  /** Those that new requests go to. */
  readonly streams: readonly EventStream[];
  /** Calls when a stream gets into trouble. */
  onTrouble(listener: () => void): void;
  /** Whether any is, also one that requests do not go to now: it may come into use again. */
  isTroubled(): boolean;
  publish(stream: EventStream, publication: Publication): Promise<Settled>;
};
export type EventStreamsNeeds = {
  connection: Connection;
  publisher: Publisher;
  /** How many streams there are now. */
  count(): number;
  metrics: Metrics;
  log: Logger;
};

/** A stream that owes answers and gives none for this long has no leader that we can reach. */
const SILENCE_MS = 800;
/** One answer that stays out this long was lost, even if the stream answers others. */
const ANSWER_TIMEOUT_MS = 4_000;
const SWEEP_MS = 100;

/** The streams, and a watch over the publications under way: no timer a message, a sweep looks at each stream. */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openEventStreams({ connection, publisher, count, metrics, log }: EventStreamsNeeds): EventStreams {
  const troubles = metrics.counters('millrace_stream_troubles_total');
  /** Also those above the number, when it became smaller: they may still owe answers. */
  const streams: EventStream[] = [];
  const inUse = () => {
    while (streams.length < count()) streams.push(newStream(streams.length));
    return streams.length === count() ? streams : streams.slice(0, count());
  };
  const isServerSilent = askServer(connection, streams);
  let sweeper: NodeJS.Timeout | undefined;
  let troubled: () => void = () => undefined;

  /** While answers are awaited. After the poll phase: if this process was stalled, it has read the waiting ones by then. */
  function keepSweeping(): void {
    sweeper ??= setInterval(() => setImmediate(sweep), SWEEP_MS);
  }

  function stopSweeping(): void {
    clearInterval(sweeper);
    sweeper = undefined;
  }

  function sweep(): void {
    if (streams.every(({ waiting }) => waiting.size === 0)) return stopSweeping();
    const now = performance.now();
    const isCutOff = isServerSilent(now);
    for (const stream of streams) {
      giveUpLost(stream, connection.losses());
      if (isCutOff) giveUpAll(stream);
      else giveUpSilent(stream, now);
    }
  }

  function giveUpAll(stream: EventStream): void {
    const silent: Settled = { kind: 'silent', description: 'the server answers nothing' };
    noteTrouble(stream, silent);
    for (const waiting of stream.waiting) waiting.giveUp(silent);
  }

  /** Counts only answers about the stream: `lost` is about the connection, `in_process` and `refused` about one message. */
  function noteTrouble(stream: EventStream, settled: Settled): void {
    if (settled.kind === 'stored') {
      if (stream.trouble !== undefined) log.info({ stream: stream.name }, 'stream.recovered');
      stream.trouble = undefined;
    } else if (settled.kind === 'silent' || settled.kind === 'no_leader' || settled.kind === 'full') {
      if (stream.trouble === settled.kind) return;
      stream.trouble = settled.kind;
      troubles(settled.kind).add();
      log.warn({ stream: stream.name, trouble: settled.kind, description: settled.description }, 'stream.troubled');
      troubled();
    }
  }

  return {
    get streams() {
      return inUse();
    },
    onTrouble: (listener) => (troubled = listener),
    isTroubled: () => streams.some(({ trouble }) => trouble !== undefined),
    publish: (stream, publication) =>
      new Promise((resolve) => {
        const settle = (settled: Settled) => {
          stream.waiting.delete(waiting);
          noteTrouble(stream, settled);
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
        keepSweeping();
      }),
    [Symbol.dispose]: stopSweeping,
  };
}

/**
 * A stream that owes answers may have lost its leader, and then another stream takes its requests. Or the server of our connection
 * is silent as a whole: then moving them would only make clients wait twice, and store requests twice that the server still stores
 * later. Its answer to a ping tells which.
 */
function askServer(connection: Connection, streams: EventStream[]): (now: number) => boolean {
  let askedAt: number | undefined;
  return (now) => {
    const owedMs = Math.max(0, ...streams.map((stream) => silentForMs(stream, now)));
    if (askedAt === undefined && owedMs >= SILENCE_MS / 2 && connection.isConnected()) {
      askedAt = now;
      void connection.nc.flush().then(
        () => (askedAt = undefined),
        () => (askedAt = undefined),
      );
    }
    return askedAt !== undefined && owedMs >= SILENCE_MS && now - askedAt >= SILENCE_MS / 4;
  };
}

function silentForMs(stream: EventStream, now: number): number {
  const [oldest] = stream.waiting;
  return oldest === undefined ? 0 : now - Math.max(oldest.since, stream.heardAt);
}

function newStream(index: number): EventStream {
  return { index, name: eventStreamName(index), trouble: undefined, waiting: new Set(), heardAt: 0 };
}

/** Publications over a connection that is gone get no answer; the same id is sent again over the next one. */
function giveUpLost(stream: EventStream, losses: number): void {
  for (const waiting of stream.waiting) {
    if (waiting.losses === losses) break;
    waiting.giveUp({ kind: 'lost', description: 'the connection was lost before an answer came' });
  }
}

/**
 * A slow stream is not a silent one: it still answers some publications, and leaving it would write its messages twice. So a stream
 * is given up as a whole only when it answers none.
 */
function giveUpSilent(stream: EventStream, now: number): void {
  const isSilent = silentForMs(stream, now) >= SILENCE_MS;
  for (const waiting of stream.waiting) {
    const waitedMs = Math.round(now - waiting.since);
    if (!isSilent && waitedMs < ANSWER_TIMEOUT_MS) break;
    waiting.giveUp({ kind: 'silent', description: `no answer for ${waitedMs} ms` });
  }
}
