import type { Logger } from '../../log.ts';
import { askLeader } from '../leaders/ask-leader.ts';
import type { Connection } from '../nats/connect-nats.ts';
import type { EventStream, EventStreams } from './event-streams.ts';

const PROBE_MS = 250;
const ANSWER_MS = 1_000;
const LEAVE_SERVER_AFTER_MS = 3_000;
/** A full stream is taken back only when it has room to spare, or it would flap with every message purged. */
const ROOM_AGAIN = 0.98;

export type ProbeNeeds = {
  connection: Connection;
  events: Pick<EventStreams, 'streams' | 'onTrouble' | 'isTroubled'>;
  log: Logger;
};

/**
 * Probes the streams in trouble, so that requests need not find out by waiting. Only a stream's leader with a majority answers a probe. If
 * none has answered for three seconds, the server of our connection is cut off from the cluster: we reconnect to another one.
 */
export function probeStreams({ connection, events, log }: ProbeNeeds): Disposable {
  let timer: NodeJS.Timeout | undefined;
  let allSilentSince: number | undefined;
  let isProbing = false;

  async function probe(): Promise<void> {
    const { streams } = events;
    const inTrouble = streams.filter((stream) => stream.trouble !== undefined);
    if (!events.isTroubled()) stop();
    if (isProbing || inTrouble.length === 0 || !connection.isConnected()) return;
    isProbing = true;
    const askedAt = performance.now();
    const answers = await Promise.all(inTrouble.map((stream) => askStream(stream, connection)));
    isProbing = false;
    for (const stream of answers.filter((answer) => answer?.hasRoom === true).map((answer) => answer?.stream)) {
      if (stream?.trouble === undefined) continue;
      stream.trouble = undefined;
      log.info({ stream: stream.name }, 'stream.recovered');
    }
    const isAllSilent = inTrouble.length === streams.length && answers.every((answer) => answer === undefined);
    noteSilence(isAllSilent ? askedAt : undefined);
  }

  /** Silence begins with the first question that stays without an answer. */
  function noteSilence(askedAt: number | undefined): void {
    allSilentSince = askedAt === undefined ? undefined : (allSilentSince ?? askedAt);
    if (allSilentSince === undefined || performance.now() - allSilentSince < LEAVE_SERVER_AFTER_MS) return;
    allSilentSince = undefined;
    connection.leaveServer('no stream leader answered through it');
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
    allSilentSince = undefined;
  }

  events.onTrouble(() => (timer ??= setInterval(() => void probe(), PROBE_MS)));
  return { [Symbol.dispose]: stop };
}

/** Undefined when no leader answers. */
async function askStream(
  stream: EventStream,
  { nc }: Connection,
): Promise<{ stream: EventStream; hasRoom: boolean } | undefined> {
  const { state, config } = (await askLeader(nc, stream.name, ANSWER_MS)) ?? {};
  if (state === undefined || config === undefined) return undefined;
  return { stream, hasRoom: stream.trouble !== 'full' || state.bytes < config.max_bytes * ROOM_AGAIN };
}
