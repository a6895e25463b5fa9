import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ComputeScene, openComputeScene, positionsOf } from '../compute/open-compute-scene.ts';
import { fillFigures } from '../deliver/read-fill.ts';
import { EVENT_STREAM_NAMES } from '../open-scene.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { sendRequest } from '../send-request.ts';
import type { ServerProcess } from '../server-process.ts';
import { waitUntil } from '../wait-until.ts';

/** A little below the part of a stream from which on events go that compute has not read. */
const NEARLY = 0.86;
/** Above that part, and with room for the calls that come until the process that trims has looked: how soon it looks is not promised. */
const FILLED = 0.94;
const STEP_MS = 200;
const CALLS = 10;
const PADDING = 'x'.repeat(20_000);
const TRIMMED_WITHIN_MS = 60_000;
const CAUGHT_UP_WITHIN_MS = 60_000;

type Sent = { requests: number; others: string[] };

/**
 * Nothing computes until the streams are full. Collect takes every call; the oldest go unread, and definitions say since when they are
 * incomplete. Everything that was not trimmed counts.
 */
export async function starveCompute(run: FaultRun): Promise<Findings> {
  await using scene = await openComputeScene(run, { nodes: 1, computes: 1, maxFileStoreMb: run.isFull ? 200 : 60 });
  const { computes } = scene;
  const sent: Sent = { requests: 0, others: [] };
  using agent = new DisposableAgent({ keepAlive: true });
  await sendOne(scene, agent, sent);
  await waitUntil('the first calls are told', CAUGHT_UP_WITHIN_MS, () => scene.receiver.heard.length >= CALLS);
  await waitUntil('what was told is read as well', CAUGHT_UP_WITHIN_MS, () => isAllRead(scene));
  const [compute] = computes;
  await compute.kill('SIGTERM');
  const stoppedAt = Date.now();
  while ((await fillOf(scene, Math.min)) < NEARLY) await sendOne(scene, agent, sent);
  run.say(`the streams are nearly full after ${sent.requests} requests`);
  await waitUntil('unread events are trimmed', TRIMMED_WITHIN_MS, async () => {
    if ((await fillOf(scene, Math.max)) < FILLED) await sendOne(scene, agent, sent);
    await sleep(STEP_MS);
    return isTrimmed(scene);
  });
  await compute.start();
  const wanted = () => (sent.requests - missingIn(compute)) * CALLS;
  const isCounted = async () => (await countOrders(scene)) === wanted();
  const caughtUp = await waitUntil('the rest is counted', CAUGHT_UP_WITHIN_MS, isCounted).catch(() => undefined);
  const counted = await countOrders(scene);
  const since = await incompleteSince(scene);
  const missing = missingIn(compute);
  run.say(`${missing} requests were trimmed unread, the others counted`);
  const failures = [
    ...new Set(sent.others.map((answer) => `collect answered ${answer}`)),
    ...(missing === 0 ? ['no request was missing'] : []),
    ...(caughtUp === undefined ? [`${counted} of ${wanted()} calls are counted`] : []),
    ...(since === undefined ? ['no definition says that it is incomplete'] : []),
    ...(since !== undefined && since > stoppedAt
      ? [`definitions are incomplete since ${since - stoppedAt} ms later`]
      : []),
  ];
  const figures = { requests: sent.requests, missing, counted };
  return { failures, late: [], figures };
}

class DisposableAgent extends Agent implements Disposable {
  [Symbol.dispose](): void {
    this.destroy();
  }
}

async function sendOne({ main, writeKey }: ComputeScene, agent: Agent, sent: Sent): Promise<void> {
  const batch = Array.from({ length: CALLS }, (_, nth) => ({
    type: 'track',
    event: 'Order',
    messageId: `${sent.requests}-${nth}`,
    userId: `u${(sent.requests * CALLS + nth) % 100}`,
    properties: { revenue: 1, category: 'hats', note: PADDING },
  }));
  const { outcome } = await sendRequest({ url: main.url, agent, writeKey, body: JSON.stringify({ batch }) });
  if (outcome === 200) sent.requests += 1;
  else sent.others.push(String(outcome));
}

/** Of all event streams, the part of the emptiest or of the fullest one. */
async function fillOf({ cluster }: ComputeScene, of: typeof Math.min): Promise<number> {
  const figures = await fillFigures(cluster.adminUrl);
  return of(...EVENT_STREAM_NAMES.map((name) => figures[name]?.ratio ?? 0));
}

/** Nothing has been trimmed yet, so a stream has as many messages as its last sequence says. */
async function isAllRead({ engine, store }: ComputeScene): Promise<boolean> {
  const messages = await engine.isWhole();
  return (await positionsOf(store)).every(({ stream, sequence }) => sequence === messages.get(stream));
}

const TRIMMED = '"events.trimmed_unread"';

function isTrimmed({ main }: ComputeScene): boolean {
  return readFileSync(main.logFile, 'utf8').includes(TRIMMED);
}

/** Requests, by the log of the process that found them missing. */
function missingIn({ logFile }: ServerProcess): number {
  const lines = readFileSync(logFile, 'utf8').split('\n');
  const gaps = lines.filter((line) => line.includes(TRIMMED)).map((line) => JSON.parse(line) as Gap);
  return gaps.reduce((sum, { from, through }) => sum + through - from + 1, 0);
}

type Gap = { from: number; through: number };

/** The sum of the trait that counts the orders of each user. */
async function countOrders({ store, keys }: ComputeScene): Promise<number> {
  const [definition] = [...keys].find(([, key]) => key === 'orders') ?? [];
  const sql = 'SELECT coalesce(sum(value::float8), 0) AS sum FROM memberships WHERE definition = $1';
  const [row] = await store.asSystem((tx) => tx.query<{ sum: number }>(sql, [definition]));
  return row?.sum ?? 0;
}

async function incompleteSince({ store }: ComputeScene): Promise<number | undefined> {
  const sql = 'SELECT incomplete_since AS since FROM definitions ORDER BY incomplete_since NULLS FIRST LIMIT 1';
  const [row] = await store.asSystem((tx) => tx.query<{ since: Date | null }>(sql));
  return row?.since?.getTime();
}
