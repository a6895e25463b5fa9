import { CATALOG } from '@millrace/contract/control';
import { startPostgresServer } from '@millrace/engines';
import { dropOldPartition } from '../../../server/src/store/record-partitions.ts';
import { migrateDatabase } from '../../../server/src/store/migrate-database.ts';
import { openStore } from '../../../server/src/store/open-store.ts';
import { insertWorkspace } from '../../../server/src/store/workspaces.ts';
import { openLog } from '../../../server/src/log.ts';
import { openKeyRing } from '../../../server/src/secrets/seal.ts';
import type { Verdict } from '../run.ts';
import { compareRecorders, ROUNDS } from './compare-recorders.ts';
import { dayOf, loadRows } from './load-rows.ts';
import { timeQuestions } from './time-questions.ts';
import { timeRecording } from './time-recording.ts';

export const WORKSPACE = 'ws_bench';
const DAYS = 7;
const GOALS = { listP95Ms: 200, explainP95Ms: 100, dropSeconds: 1, streamsRatio: 2 };
export type Scene = Awaited<ReturnType<typeof openScene>>;

/** The record when it is large: the cost of queries, of dropping a day's partition, and of recording. */
export async function benchRecord({ isQuick }: { isQuick: boolean }): Promise<Verdict> {
  const rows = isQuick ? 140_000 : 10_000_000;
  const streams = await compareRecorders(isQuick ? 20_000 : 200_000, isQuick ? 1 : ROUNDS);
  await using scene = await openScene();
  const recording = await timeRecording(scene, isQuick ? 20_000 : 200_000);
  console.log(JSON.stringify(recording));
  const loadSeconds = await timed(() => loadRows(scene.url, { days: DAYS, perDay: Math.ceil(rows / DAYS) }));
  console.log(`${rows} deliveries with an attempt each loaded in ${loadSeconds} s`);
  const questions = await timeQuestions(scene, { days: DAYS, perDay: Math.ceil(rows / DAYS) });
  const dropSeconds = await timed(() => dropDay(scene));
  const { explain, ...lists } = questions;
  const isGood =
    Object.values(lists).every(({ p95Ms }) => p95Ms < GOALS.listP95Ms) &&
    (explain?.p95Ms ?? Infinity) < GOALS.explainP95Ms &&
    dropSeconds < GOALS.dropSeconds &&
    streams.isExact &&
    streams.ratio >= GOALS.streamsRatio;
  const figures = { goals: GOALS, rows, loadSeconds, questions, dropSeconds, recording, streams };
  return { isGood, figures: { bench: 'record', ...figures } };
}

async function openScene() {
  await using opening = new AsyncDisposableStack();
  const postgres = opening.use(await startPostgresServer());
  await migrateDatabase(postgres.url);
  const store = opening.use(await openStore(postgres.serviceUrl));
  await store.asSystem((tx) => insertWorkspace(tx, { id: WORKSPACE, name: 'Bench' }));
  const opened = opening.move();
  const given = { log: openLog({ level: 'error', pretty: false }), catalog: CATALOG, workspaceId: WORKSPACE };
  const keyRing = openKeyRing(new Map([[1, Buffer.alloc(32)]]));
  return { ...given, store, keyRing, url: postgres.adminUrl, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** The oldest day, both tables of it. */
async function dropDay({ store }: Scene): Promise<void> {
  const kept = { recordsFrom: dayOf(DAYS - 2), countsFrom: '2000-01-01' };
  while ((await store.asSystem((tx) => dropOldPartition(tx, kept))) !== undefined);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return Math.round(performance.now() - startedAt) / 1_000;
}
