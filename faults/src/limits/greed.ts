import { LIMIT_NAMES, type LimitUse } from '@millrace/contract/control';
import type { ControlClient } from '../control-client.ts';
import { markedCall } from '../deliver/marked-call.ts';
import type { Timed } from '../measure-attempts.ts';
import { spend, waitUntil } from '../wait-until.ts';
import type { Source } from '../sources.ts';
import { LIMITS, type Tenants } from './open-tenants.ts';

/** Twice as many calls as the greedy workspace may send. */
const GREEDY_CALLS_PER_SECOND = 100;
const PADDING = 'x'.repeat(4_000);
const GREEDY_API_EVERY_MS = 20;
const REACHED_WITHIN_MS = 60_000;

export type Asking = AsyncDisposable & { times: Timed[]; statuses: Map<number, number>; stop(): Promise<void> };

/** Lists sources again and again, without waiting for answers: a slow answer must not make the next question later. */
export function askOften(client: ControlClient, everyMs: number): Asking {
  const times: Timed[] = [];
  const statuses = new Map<number, number>();
  const underWay = new Set<Promise<void>>();
  const askOne = async (): Promise<void> => {
    const { askedAt, answeredAt, status } = await client.ask('GET', '/api/v1/sources');
    times.push({ startedAt: askedAt, endedAt: answeredAt });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  const asking = steadily(everyMs, () => {
    const one = askOne().finally(() => underWay.delete(one));
    underWay.add(one);
  });
  const stop = async () => {
    asking.stop();
    await Promise.all(underWay);
  };
  return { times, statuses, stop, [Symbol.asyncDispose]: stop };
}

/** As often as it is due: a timer of a busy machine alone leaves rounds out, and the rate would stay below a limit. */
function steadily(everyMs: number, work: () => void): { stop(): void } {
  const startedAt = performance.now();
  let done = 0;
  const timer = setInterval(() => {
    for (const due = (performance.now() - startedAt) / everyMs; done < due; done += 1) work();
  }, everyMs);
  return { stop: () => clearInterval(timer) };
}

export type Greed = AsyncDisposable & {
  /** Of its requests to the API. */
  statuses: Map<number, number>;
  calls: CallsSeen;
  /** The refusals that it met. */
  codes: Set<string>;
  stop(): Promise<void>;
};

export type CallsSeen = { taken: number; refused: number; withoutRetryAfter: number };

/** Half of its receivers fail and half refuse; it sends too much, makes too much and asks too much. */
export async function startGreed({ scene, greedy, plans }: Tenants): Promise<Greed> {
  const [failing, refusing] = plans.greedy.sources.map(({ id }) =>
    plans.greedy.destinations.filter(({ sourceId }) => sourceId === id).map((destination) => destination.id),
  );
  await scene.receivers.behave(failing ?? [], { status: 500 });
  await scene.receivers.behave(refusing ?? [], { status: 400 });
  const calls = floodCalls(scene.collect.url, plans.greedy.sources);
  const codes = new Set<string>();
  const made = await makeTooMuch(greedy, codes);
  const tails = await openTails(greedy, made.sourceId, codes);
  const asking = askOften(greedy, GREEDY_API_EVERY_MS);
  const stop = async () => {
    tails.abort();
    await Promise.all([asking.stop(), calls.stop()]);
  };
  return { statuses: asking.statuses, calls: calls.seen, codes, stop, [Symbol.asyncDispose]: stop };
}

const TRIES = 30;

/** Makes sources, destinations at ever new hosts, and replays, until each is refused. */
async function makeTooMuch(client: ControlClient, codes: Set<string>): Promise<{ sourceId: string }> {
  const { body } = await client.ask('GET', '/api/v1/sources');
  const sourceId = body.items?.[0]?.id ?? '';
  const insist = async (path: string, bodyOf: (nth: number) => object) => {
    for (let nth = 0; nth < TRIES; nth += 1) {
      const answer = await client.ask('POST', path, bodyOf(nth));
      if (answer.status === 409) codes.add(`${path} ${answer.body.code ?? ''}`);
      if (answer.status === 409) return;
      if (answer.status === 429) await spend(1_000);
    }
  };
  await insist('/api/v1/sources', (nth) => ({ name: `more ${nth}` }));
  const destination = (nth: number) => {
    const headers = Object.fromEntries(['a', 'b', 'c'].map((name) => [`x-${name}`, 'x'.repeat(4_000)]));
    return {
      sourceId,
      catalog: 'Webhooks',
      settings: { targets: [{ url: `http://127.9.0.${nth + 1}:9999/`, headers }] },
    };
  };
  await insist('/api/v1/destinations', destination);
  const { body: listed } = await client.ask('GET', '/api/v1/destinations?limit=1');
  const range = { sourceId, from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z', ratePerSecond: 1 };
  await insist('/api/v1/replays', () => ({ ...range, destinationId: listed.items?.[0]?.id ?? '' }));
  return { sourceId };
}

/** As many as it may have, and one that is refused. Requests over its rate are sent again. */
async function openTails(client: ControlClient, sourceId: string, codes: Set<string>): Promise<AbortController> {
  const controller = new AbortController();
  // Kept, because a body that is collected as garbage ends its connection.
  const open: Response[] = [];
  for (let nth = 0; nth < TRIES && !codes.has('tails'); nth += 1) {
    const answer = await client.open(`/api/v1/sources/${sourceId}/tail`, controller.signal);
    if (answer.status === 200) open.push(answer);
    else if (open.length >= LIMITS.tails) codes.add('tails');
    else await spend(1_000);
  }
  controller.signal.addEventListener('abort', () => open.splice(0));
  return controller;
}

/** Single calls at a steady rate, each sent once: a client that ignores every answer. */
function floodCalls(url: string, sources: readonly Source[]) {
  const seen: CallsSeen = { taken: 0, refused: 0, withoutRetryAfter: 0 };
  const underWay = new Set<Promise<void>>();
  let sent = 0;
  const sendOne = async (source: Source, nth: number): Promise<void> => {
    const call = { ...markedCall(source, `greedy-${nth}`), context: { padding: PADDING } };
    const headers = { Authorization: `Basic ${Buffer.from(`${source.writeKey}:`).toString('base64')}` };
    const body = JSON.stringify({ batch: [call] });
    const answer = await fetch(`${url}/v1/batch`, { method: 'POST', headers, body }).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.status === 200) seen.taken += 1;
    if (answer?.status !== 429) return;
    seen.refused += 1;
    if (!answer.headers.has('Retry-After')) seen.withoutRetryAfter += 1;
  };
  const sending = steadily(1_000 / GREEDY_CALLS_PER_SECOND, () => {
    const source = sources[sent % sources.length];
    if (source === undefined) return;
    const one = sendOne(source, (sent += 1)).finally(() => underWay.delete(one));
    underWay.add(one);
  });
  return {
    seen,
    async stop() {
      sending.stop();
      await Promise.all(underWay);
    },
  };
}

/** The limits that the greedy workspace has not reached, as it is told itself; asked until all are, or patience ends. */
export async function allReached(client: ControlClient, { codes }: Greed): Promise<string[]> {
  let left: string[] = [...LIMIT_NAMES];
  const look = async () => {
    const { body } = await client.ask('GET', '/api/v1/workspace/limits');
    if (body.limits !== undefined) left = notReached(body.limits, codes);
    return left.length === 0;
  };
  await waitUntil('all limits are reached', REACHED_WITHIN_MS, look).catch(() => undefined);
  return left;
}

/** Rates swing around their limit, and others hold back what comes first: the refusals show those. */
function notReached(limits: readonly LimitUse[], codes: ReadonlySet<string>): string[] {
  const refused = new Set([...codes].map((code) => code.split(' ')[0] ?? ''));
  return limits
    .filter(({ name, state }) => {
      if (name === 'callsPerSecond' || name === 'apiRequestsPerSecond') return false;
      if (name === 'destinations' || name === 'targetHosts' || name === 'configBytes')
        return !refused.has('/api/v1/destinations');
      return state === 'below' || state === 'unknown';
    })
    .map(({ name, state, used }) => `${name} is ${state} with ${used}`);
}
