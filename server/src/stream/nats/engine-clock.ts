/**
 * The time that all processes share: that of the NATS server which leads TICKETS, because it decides when a lease is over. Between
 * two answers of that server the time goes on with this host's monotonic clock, so setting the host's clock moves nothing.
 *
 * The clock knows bounds for its offset. Each answer narrows them, or replaces them when it contradicts them. The host's own clock is
 * within the limit, or drifted: answers move it between the two, and each move is logged.
 */
import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics/open-metrics.ts';
import type { Connection } from './connect-nats.ts';
import { CLOCK_SUBJECT } from '../layout/layout.ts';
import { type ClockBounds, describeOffset, hostOffset, isTooFar, middleOf, narrow } from './clock-bounds.ts';
import { whenSettled } from './when-settled.ts';
import { every } from '../../pause.ts';

export type EngineClock = Disposable & {
  /** Milliseconds since 1970, by the clock of NATS. */
  now(): number;
  /** How far this host's clock is ahead of it; negative when it is behind. */
  hostOffsetMs(): number;
};

export type EngineClockNeeds = { connection: Connection; metrics: Metrics; log: Logger };

const ASK_EVERY_MS = 5_000;
const LOOK_EVERY_MS = 1_000;
const ANSWER_MS = 2_000;
/** The shortest round trip of the first few gives the tightest bounds. */
const FIRST_ASKS = 3;
/** Host and monotonic clock part when one of them was set or suspended: NATS is asked at once. */
const JUMP_MS = 250;

export async function openEngineClock({ connection, metrics, log }: EngineClockNeeds): Promise<EngineClock> {
  let bounds = await whenSettled(() => ask(connection, undefined));
  for (let asks = 1; asks < FIRST_ASKS; asks += 1) bounds = await ask(connection, bounds).catch(() => bounds);
  let askedAt = performance.now();
  let aheadThen = hostAhead();
  let isAsking = false;
  let wasTooFar = false;
  const offsetMs = () => middleOf(hostOffset(bounds, hostAhead()));

  async function look(): Promise<void> {
    const hasJumped = Math.abs(hostAhead() - aheadThen) > JUMP_MS;
    if (isAsking || (!hasJumped && performance.now() - askedAt < ASK_EVERY_MS)) return;
    isAsking = true;
    askedAt = performance.now();
    aheadThen = hostAhead();
    // Without an answer the monotonic clock carries on.
    bounds = await ask(connection, bounds).catch(() => bounds);
    isAsking = false;
    tellIfTooFar();
  }

  /** Logs once when the host's clock leaves the limit, and once when it is back inside. */
  function tellIfTooFar(): void {
    const offset = hostOffset(bounds, hostAhead());
    if (isTooFar(offset) === wasTooFar) return;
    wasTooFar = !wasTooFar;
    const facts = { offsetMs: Math.round(middleOf(offset)) };
    if (!wasTooFar) log.info(facts, 'clock.corrected');
    else log.error({ ...facts, why: describeOffset(offset, 'the NATS servers') }, 'clock.drifted');
  }

  metrics.gauge('millrace_clock_offset_seconds', () => offsetMs() / 1_000);
  const timer = every(LOOK_EVERY_MS, () => void look());
  return {
    now: () => Math.round(performance.now() + middleOf(bounds)),
    hostOffsetMs: offsetMs,
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  };
}

async function ask({ nc }: Connection, known: ClockBounds | undefined): Promise<ClockBounds> {
  const sentAt = performance.now();
  const answer = await nc.request(CLOCK_SUBJECT, '', { timeout: ANSWER_MS });
  const arrivedAt = performance.now();
  const { ts = '' } = answer.json<{ ts?: string }>();
  const engineAt = Date.parse(ts);
  if (Number.isNaN(engineAt)) throw new Error('the leader of TICKETS does not say its time: temporarily unavailable');
  return narrow(known, { engineAt, sentAt, arrivedAt });
}

/** How far the host's clock is ahead of its monotonic one. */
function hostAhead(): number {
  return Date.now() - performance.now();
}
