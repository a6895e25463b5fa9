import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics/open-metrics.ts';
import type { Connection } from './connect-nats.ts';
import { CLOCK_SUBJECT } from '../layout/layout.ts';
import { type ClockBounds, describeOffset, hostOffset, isTooFar, middleOf, narrow } from './clock-bounds.ts';
import { whenSettled } from './when-settled.ts';

/**
 * The time that all processes share: that of the NATS server which leads TICKETS, because it decides when a lease is over.
 * Between two answers of that server the time goes on with this host's monotonic clock, so setting the host's clock moves nothing.
 */
export type EngineClock = Disposable & {
  /** Milliseconds since 1970, by the engine's clock. */
  now(): number;
  /** How far this host's clock is ahead of the engine's; negative when it is behind. */
  hostOffsetMs(): number;
};

export type EngineClockNeeds = { connection: Connection; metrics: Metrics; log: Logger };

const ASK_EVERY_MS = 5_000;
const LOOK_EVERY_MS = 1_000;
const ANSWER_MS = 2_000;
/** The shortest round trip of the first few says most. */
const FIRST_ASKS = 3;
/** Host and monotonic clock part when one of them was set or suspended: the engine is asked at once. */
const JUMP_MS = 250;

type State = { bounds: ClockBounds; askedAt: number; hostAhead: number; isTooFar: boolean; isAsking: boolean };

export async function openEngineClock({ connection, metrics, log }: EngineClockNeeds): Promise<EngineClock> {
  let bounds = await whenSettled(() => ask(connection, undefined));
  for (let asks = 1; asks < FIRST_ASKS; asks += 1) bounds = await ask(connection, bounds).catch(() => bounds);
  const state: State = {
    bounds,
    askedAt: performance.now(),
    hostAhead: hostAhead(),
    isTooFar: false,
    isAsking: false,
  };
  const offsetMs = () => middleOf(hostOffset(state.bounds, hostAhead()));
  metrics.gauge('millrace_clock_offset_seconds', () => offsetMs() / 1_000);
  const timer = setInterval(() => void look(state, connection, log), LOOK_EVERY_MS);
  timer.unref();
  return {
    now: () => Math.round(performance.now() + middleOf(state.bounds)),
    hostOffsetMs: offsetMs,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

async function look(state: State, connection: Connection, log: Logger): Promise<void> {
  const hasJumped = Math.abs(hostAhead() - state.hostAhead) > JUMP_MS;
  if (state.isAsking || (!hasJumped && performance.now() - state.askedAt < ASK_EVERY_MS)) return;
  state.isAsking = true;
  state.askedAt = performance.now();
  state.hostAhead = hostAhead();
  // Without an answer the monotonic clock carries on.
  state.bounds = await ask(connection, state.bounds).catch(() => state.bounds);
  state.isAsking = false;
  tellIfTooFar(state, log);
}

/** Once when the host's clock leaves the limit, and once when it is back inside. */
function tellIfTooFar(state: State, log: Logger): void {
  const offset = hostOffset(state.bounds, hostAhead());
  const wasTooFar = state.isTooFar;
  state.isTooFar = isTooFar(offset);
  if (state.isTooFar === wasTooFar) return;
  const facts = { offsetMs: Math.round(middleOf(offset)) };
  if (!state.isTooFar) log.info(facts, 'clock.corrected');
  else log.error({ ...facts, why: describeOffset(offset, 'the NATS servers') }, 'clock.drifted');
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
