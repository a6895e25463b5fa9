import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import { type Metrics, openMetrics } from '../metrics/open-metrics.ts';
import type { CollectConfig } from '../stream/config/config-bucket.ts';
import { NO_TRACING, type Tracing } from '../tracing/open-tracing.ts';
import { NO_TAIL, type TailWriter } from '../stream/signals/tail-writer.ts';
import type { AcceptNeeds } from './accept-calls.ts';
import { type Answer, laterAnswer } from './answer.ts';
import { answerRequest, type RequestNeeds } from './answer-request.ts';
import type { PublicUrl } from './browser-settings.ts';
import { openAddressReader } from '../http/client-address.ts';
import { openFindSuppressed } from './find-suppressed.ts';
import { openKeyLookup } from './find-write-key.ts';
import { createHardenedServer } from '../http/hardened-server.ts';
import { openKeyless } from './keyless.ts';
import { openRefused, type RefusedNeeds } from './note-refused.ts';
import { openSeen, type SeenNeeds } from './note-seen.ts';
import { openRateLimiter, type RateLimit } from '../limits/rate-limit.ts';
import { REQUESTS_END_MS } from '../limits/stop-times.ts';
import { type CallWatch, openCallWatch } from './watch-calls.ts';
import { writeAnswer } from './write-answer.ts';

export type CollectSettings = {
  host: string;
  port: number;
  maxConnections: number;
  maxHeldBytes: number;
  /** How long the process still answers after /readyz says that it is leaving, so that load balancers notice. */
  drainMs: number;
  defaultRate: RateLimit;
  /** Of all sources of a workspace together, unless the operator changed it; without it there is no limit. */
  workspaceCallsPerSecond?: number | undefined;
  /** Requests without a key in the header that one address may have refused; 0 for any number. */
  refusalsPerSecond: number;
  trustedProxies: string[];
  publicUrl: PublicUrl | undefined;
};

export type CollectNeeds = {
  settings: CollectSettings;
  config: CollectConfig;
  append: AcceptNeeds['append'];
  isEngineAvailable(): boolean;
  tellSeen: SeenNeeds['tell'];
  tellRefused: RefusedNeeds['tell'];
  /** By the clock of NATS: calls are dated by the same clock as their deliveries. */
  now(): number;
  metrics?: Metrics;
  tail?: TailWriter;
  tracing?: Tracing;
  log: Logger;
};

/** Disposing drains: not ready at once, then no new connections, then the end of the requests under way. */
export type Collect = AsyncDisposable & {
  port: number;
  /** Not ready from now on; resolves after `drainMs`. Disposing begins with it, too. */
  drain(): Promise<void>;
  /** Another process listens on the same port: leaves new connections to it, and stays ready for those that are open. */
  handOver(): void;
};

export async function serveCollect(needs: CollectNeeds): Promise<Collect> {
  const { settings, now: nowMs, log } = needs;
  const state: DrainState = { isDraining: false, isHandedOver: false };
  // Their timers would keep a process alive that cannot listen.
  using opening = new DisposableStack();
  const seen = opening.use(openSeen({ tell: needs.tellSeen, nowMs }));
  const refused = opening.use(openRefused({ tell: needs.tellRefused, nowMs }));
  const { metrics = openMetrics(), tail = NO_TAIL, tracing = NO_TRACING } = needs;
  const watch = openCallWatch({ metrics, tail, nowMs });
  const requestNeeds = { ...needsOfRequests(needs, state), seen, refused, watch, tracing };
  metrics.gauge('millrace_held_bytes', () => requestNeeds.held.bytes);
  const server = createHardenedServer(settings, (request, response) => {
    void answer({ request, response, state, watch }, requestNeeds, log);
  });
  // Node's default of 511 overflows when thousands connect at once, and the waiting connections are cut off.
  server.listen({ port: settings.port, host: settings.host, backlog: 4_096 });
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : settings.port;
  log.info({ host: settings.host, port }, 'collect.listening');
  const notes = opening.move();
  let drained: Promise<void> | undefined;
  const drain = () => {
    state.isDraining = true;
    return (drained ??= sleep(settings.drainMs));
  };
  return {
    port,
    drain,
    handOver() {
      state.isHandedOver = true;
      // Not that of the HTTP server, which would hang up on clients that keep their connection for the next request.
      NetServer.prototype.close.call(server);
    },
    async [Symbol.asyncDispose]() {
      await drain();
      await closeServer(server);
      notes.dispose();
      log.info({}, 'collect.drained');
    },
  };
}

async function answer(exchange: Exchange, needs: RequestNeeds, log: Logger): Promise<void> {
  const { request } = exchange;
  try {
    write(exchange, await answerRequest(request, needs));
  } catch (error) {
    // A client that hung up in the middle is not our failure.
    if (request.destroyed && !request.complete) return;
    log.error({ error: error instanceof Error ? error.stack : String(error) }, 'request.failed');
    write(exchange, laterAnswer('unavailable', 1));
  }
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const impatient = setTimeout(() => server.closeAllConnections(), REQUESTS_END_MS);
  await closed;
  clearTimeout(impatient);
}

type DrainState = { isDraining: boolean; isHandedOver: boolean };

function needsOfRequests(
  { settings, config, append, isEngineAvailable, now, log }: CollectNeeds,
  state: DrainState,
): Omit<RequestNeeds, 'seen' | 'refused' | 'watch' | 'tracing'> {
  return {
    keys: openKeyLookup(config),
    findSuppressed: openFindSuppressed(config),
    append,
    limiter: openRateLimiter(() => performance.now()),
    workspaces: openRateLimiter(() => performance.now()),
    defaultRate: settings.defaultRate,
    workspaceCallsPerSecond: settings.workspaceCallsPerSecond,
    nowMs: now,
    random: Math.random,
    unavailable: logSparsely(log),
    keyless: openKeyless({ perSecond: settings.refusalsPerSecond, nowMs: () => performance.now() }),
    readAddress: openAddressReader(settings.trustedProxies),
    publicUrl: settings.publicUrl,
    whyNotReady: () => [
      ...(state.isDraining && !state.isHandedOver ? ['this process is shutting down'] : []),
      ...(isEngineAvailable() ? [] : ['NATS JetStream cannot take events now']),
    ],
    held: { bytes: 0, maxBytes: settings.maxHeldBytes },
  };
}

type Exchange = { request: IncomingMessage; response: ServerResponse; state: DrainState; watch: CallWatch };

function write({ request, response, state, watch }: Exchange, answer: Answer): void {
  watch.answered(answer.status, answer.code);
  if (state.isDraining && !response.destroyed) response.setHeader('Connection', 'close');
  writeAnswer(request, response, answer);
}

/** At most one line a second. */
function logSparsely(log: Logger): (why: string) => void {
  let refused = 0;
  let saidAt = -Infinity;
  return (why) => {
    refused += 1;
    const now = performance.now();
    if (now - saidAt < 1_000) return;
    log.warn({ why, requests: refused }, 'append.unavailable');
    refused = 0;
    saidAt = now;
  };
}
