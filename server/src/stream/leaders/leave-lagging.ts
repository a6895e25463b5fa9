import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import type { Logger } from '../../log.ts';
import {
  DELIVER_CONSUMER,
  DRAIN_CONSUMER,
  DRAIN_URGENT_CONSUMER,
  eventStreamIndex,
  outcomesStreamIndex,
  RECORD_CONSUMER,
  TICKETS_STREAM,
} from '../layout/layout.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { isDenied } from '../nats/engine-errors.ts';
import { handOver } from './hand-over.ts';
import { every } from '../../pause.ts';

export type LaggingNeeds = {
  connection: Pick<Connection, 'nc'>;
  manager: Pick<JetStreamManager, 'streams' | 'consumers'>;
  isMyTurn(): boolean;
  log: Logger;
};
export type LaggingWatch = Disposable & {
  /** Resolves when all streams were looked at once more. */
  look(): Promise<void>;
};
/** A stream whose leader says that other servers' copies lack messages. */
export type Lagging = { stream: string; leader: string; behind: ReadonlySet<string> };

const LOOK_MS = 5_000;
/** An election takes a few seconds, and NATS may not follow the wish. */
const REST_MS = 30_000;

/**
 * The leader of a consumer sends the messages that its own server has. NATS may need a minute to bring the copies of a server up to date
 * that was cut off, and elects leaders of consumers there all the same. New messages would wait for that minute, and the consumer would
 * say that none waits. One control process looks for such consumers and hands them to the server that leads their stream.
 */
export function leaveLagging({ connection, manager, isMyTurn, log }: LaggingNeeds): LaggingWatch {
  const { nc } = connection;
  const rests = openRests();
  let before: readonly Lagging[] = [];
  let isLooking = false;
  let mayMove = true;

  async function moveAll(): Promise<void> {
    const now = await findLagging(manager);
    const still = lagStill(before, now);
    before = now;
    for (const each of still) for (const consumer of consumersOf(each.stream)) await moveOne(consumer, each);
  }

  async function moveOne(consumer: string, { stream, leader, behind }: Lagging): Promise<void> {
    // Without a leader, it does not answer.
    const info = await manager.consumers.info(stream, consumer).catch(() => undefined);
    const from = info?.cluster?.leader;
    if (from === undefined || !behind.has(from) || rests(`${stream} ${consumer}`)) return;
    const move = { stream, consumer, from, to: leader };
    try {
      await handOver(nc, move, leader);
      log.info(move, 'consumer.moved');
    } catch (error) {
      // A NATS user of an earlier version may not.
      mayMove = !isDenied(error);
      log.warn({ ...move, error: String(error) }, 'consumer.not_moved');
    }
  }

  async function look(): Promise<void> {
    if (isLooking || !mayMove) return;
    isLooking = true;
    await moveAll().catch((error: unknown) => log.debug({ error: String(error) }, 'consumers.not_seen'));
    isLooking = false;
  }

  const timer = every(LOOK_MS, () => {
    // A single server has no copies.
    if (isMyTurn() && nc.info?.cluster !== undefined) void look();
  });
  return { look, [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

/** Whether a consumer was handed over a moment ago; if not, its rest begins. */
function openRests(): (consumer: string) => boolean {
  const movedAt = new Map<string, number>();
  return (consumer) => {
    const now = performance.now();
    if (now - (movedAt.get(consumer) ?? -Infinity) < REST_MS) return true;
    movedAt.set(consumer, now);
    return false;
  };
}

/** Copies that lag at two looks running: under load each copy lags for moments. */
export function lagStill(before: readonly Lagging[], now: readonly Lagging[]): Lagging[] {
  const behindBefore = new Map(before.map(({ stream, behind }) => [stream, behind]));
  return now
    .map((each) => ({ ...each, behind: each.behind.intersection(behindBefore.get(each.stream) ?? new Set()) }))
    .filter(({ behind }) => behind.size > 0);
}

/** The consumers of ours that wait for the messages of a stream. */
export function consumersOf(stream: string): string[] {
  if (stream === TICKETS_STREAM) return [DRAIN_CONSUMER, DRAIN_URGENT_CONSUMER];
  if (eventStreamIndex(stream) !== undefined) return [DELIVER_CONSUMER];
  return outcomesStreamIndex(stream) === undefined ? [] : [RECORD_CONSUMER];
}

async function findLagging(manager: LaggingNeeds['manager']): Promise<Lagging[]> {
  const infos = await Array.fromAsync(manager.streams.list());
  return infos.filter(({ config }) => consumersOf(config.name).length > 0).flatMap(toLagging);
}

function toLagging({ config, cluster }: StreamInfo): Lagging[] {
  const behind = cluster?.replicas?.filter(({ current }) => !current).map(({ name }) => name) ?? [];
  if (cluster?.leader === undefined || behind.length === 0) return [];
  return [{ stream: config.name, leader: cluster.leader, behind: new Set(behind) }];
}
