import { writeOutcomes } from '../../../server/src/record/write-outcomes.ts';
import type { OutcomeEntry } from '../../../server/src/domain/outcome.ts';
import type { Scene } from './bench-record.ts';
import { deliveredAtOnce } from './delivered-at-once.ts';
import { runSql } from './load-rows.ts';
import { postgresCpuMs } from './processor-time.ts';

const PER_TRANSACTION = 4_000;

type Cost = { rowsPerSecond: number; nodeMicros: number; postgresMicros: number };

/** Deliveries that succeed at the first attempt, as most of the record does. CPU is of Node and of PostgreSQL. */
export async function timeRecording(scene: Scene, deliveries: number): Promise<Record<string, unknown>> {
  const batches = Array.from({ length: Math.ceil(deliveries / PER_TRANSACTION) }, (_, index) => entries(index));
  const knownPartitions = new Set<string>();
  const needs = { sample: 1, rows: 1, recordsFrom: '2000-01-01', knownPartitions };
  const write = (batch: OutcomeEntry[]) => scene.store.asSystem((tx) => writeOutcomes(tx, batch, needs));
  const ours = await costOf(batches, { scene, write });
  const again = await costOf(batches, { scene, write });
  const copy = (options: string) => `DROP TABLE IF EXISTS bare_deliveries, bare_attempts;
    CREATE TABLE bare_deliveries (LIKE deliveries INCLUDING DEFAULTS ${options});
    CREATE TABLE bare_attempts (LIKE attempts INCLUDING DEFAULTS ${options});
    GRANT ALL ON bare_deliveries, bare_attempts TO millrace_app`;
  const bare = async (options: string) => {
    runSql(scene.url, copy(options));
    return costOf(batches, { scene, write: (batch) => insertBare(scene, batch) });
  };
  const indexed = await bare('INCLUDING INDEXES');
  const plain = await bare('');
  const sum = ({ nodeMicros, postgresMicros }: Cost) => nodeMicros + postgresMicros;
  const ratio = (to: Cost) => Math.round((sum(ours) / sum(to)) * 100) / 100;
  return { deliveries, ours, again, indexed, plain, ratioToIndexed: ratio(indexed), ratioToPlain: ratio(plain) };
}

function entries(index: number): OutcomeEntry[] {
  const at = Date.now();
  return Array.from({ length: PER_TRANSACTION }, (_, offset) => deliveredAtOnce(index * PER_TRANSACTION + offset, at));
}

/** The same rows as a plain batched insert would write them. */
function insertBare({ store }: Scene, batch: OutcomeEntry[]): Promise<unknown> {
  const rows = JSON.stringify(batch);
  return store.asSystem(async (tx) => {
    const given = `json_to_recordset($1) AS g ("workspaceId" text, "deliveryId" text, "receivedAt" timestamptz,
      "sourceId" text, "destinationId" text, "messageId" text, type text, name text, "userId" text, answers jsonb)`;
    await tx.query(
      `INSERT INTO bare_deliveries SELECT "workspaceId", "deliveryId", "receivedAt"::date, "receivedAt", "sourceId",
       "destinationId", "messageId", type, name, "userId", NULL, 'delivered', NULL, "receivedAt", 1, "receivedAt", "receivedAt",
       200, NULL, 'the receiver answered 200', NULL, 1 FROM ${given}`,
      [rows],
    );
    await tx.query(
      `INSERT INTO bare_attempts SELECT "workspaceId", "deliveryId", "receivedAt"::date, "destinationId", "receivedAt", 1,
       'delivered', 43.5, answers, NULL FROM ${given}`,
      [rows],
    );
  });
}

type Work = { scene: Scene; write(batch: OutcomeEntry[]): Promise<unknown> };

async function costOf(batches: OutcomeEntry[][], { scene, write }: Work): Promise<Cost> {
  const postgresBefore = await postgresCpuMs(scene);
  const startedAt = performance.now();
  const node = process.cpuUsage();
  for (const batch of batches) await write(batch);
  const count = batches.length * PER_TRANSACTION;
  const spent = process.cpuUsage(node);
  const seconds = (performance.now() - startedAt) / 1_000;
  const postgresMs = (await postgresCpuMs(scene)) - postgresBefore;
  return {
    rowsPerSecond: Math.round(count / seconds),
    nodeMicros: round((spent.user + spent.system) / count),
    postgresMicros: round((postgresMs * 1_000) / count),
  };
}

const round = (micros: number) => Math.round(micros * 10) / 10;
