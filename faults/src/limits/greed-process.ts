/** A greedy workspace, in a process of its own: the effort of being greedy must not be taken for the server's. */
import { once } from 'node:events';
import { Agent } from 'node:http';
import { type ControlClient, controlClient } from '../control-client.ts';
import { markedCall } from '../deliver/marked-call.ts';
import { sendRequest } from '../send-request.ts';
import type { Source } from '../sources.ts';
import { spend } from '../wait-until.ts';
import { askOften, steadily } from './ask-often.ts';
import { LIMITS } from './limits.ts';

export type GreedOrder = { collectUrl: string; sources: readonly Source[]; controlUrl: string; token: string };

/** Its first word, when it is as greedy as it gets: the refusals that it met. */
export type GreedBegun = { codes: string[] };
/** Its last word. */
export type GreedSeen = { statuses: [number, number][]; calls: CallsSeen };
export type CallsSeen = { taken: number; refused: number; withoutRetryAfter: number };

/** Twice as many calls as the greedy workspace may send. */
const GREEDY_CALLS_PER_SECOND = 100;
const PADDING = 'x'.repeat(4_000);
const GREEDY_API_EVERY_MS = 20;

const TRIES = 30;

const [order] = (await once(process, 'message')) as [GreedOrder];
const greedy = controlClient(order.controlUrl, order.token);
const calls = floodCalls(order.collectUrl, order.sources);
const codes = new Set<string>();
const made = await makeTooMuch(greedy, codes);
const tails = await openTails(greedy, made.sourceId, codes);
const asking = askOften(greedy, GREEDY_API_EVERY_MS);
process.send?.({ codes: [...codes] } satisfies GreedBegun);
await once(process, 'message');
tails.abort();
await Promise.all([asking.stop(), calls.stop()]);
process.send?.({ statuses: [...asking.statuses], calls: calls.seen } satisfies GreedSeen);
process.disconnect();

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
  const agent = new Agent({ keepAlive: true, maxSockets: 512 });
  const underWay = new Set<Promise<void>>();
  let sent = 0;
  const sendOne = async (source: Source, nth: number): Promise<void> => {
    const call = { ...markedCall(source, `greedy-${nth}`), context: { padding: PADDING } };
    const { writeKey } = source;
    const answer = await sendRequest({ url, agent, writeKey, body: JSON.stringify({ batch: [call] }) });
    if (answer.outcome === 200) seen.taken += 1;
    if (answer.outcome !== 429) return;
    seen.refused += 1;
    if (!answer.hasRetryAfter) seen.withoutRetryAfter += 1;
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
