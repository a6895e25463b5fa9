/**
 * A reader of compute on a real NATS stream and a real PostgreSQL. The jobs of the lifecycle run when a test says so, and it can do something
 * else right before a step of theirs, and right after a batch that they have read.
 */
import { randomUUID } from 'node:crypto';
import { startNatsCluster } from '@millrace/engines';
import { openFolding } from '../../src/compute/fold-requests.ts';
import { openKnownPlans } from '../../src/compute/known-plans.ts';
import { openKnownSources } from '../../src/compute/known-sources.ts';
import {
  type JobNeeds,
  JobEnded,
  JobWaiting,
  type Portions,
  PORTIONS,
} from '../../src/compute/lifecycle/life-needs.ts';
import { StreamChanged } from '../../src/compute/lifecycle/read-past.ts';
import { runJob } from '../../src/compute/lifecycle/start-lifecycle.ts';
import { startReader } from '../../src/compute/read-stream.ts';
import { openWatermark } from '../../src/compute/watermark.ts';
import { openWithheldUsers } from '../../src/compute/withheld-users.ts';
import { openLog } from '../../src/log.ts';
import { openMetrics } from '../../src/metrics/open-metrics.ts';
import { openProfileStore } from '../../src/store/compute/open-profile-store.ts';
import { listJobs } from '../../src/store/definitions/life-jobs.ts';
import { insertSource } from '../../src/store/sources.ts';
import { openStreamCopies } from '../../src/stream/backup/open-stream-copies.ts';
import { eventStreamName, layout } from '../../src/stream/layout/layout.ts';
import type { ComputeSide } from '../../src/stream/open-compute-side.ts';
import { openStream, type Stream } from '../../src/stream/open-stream.ts';
import { createDefinition, type DefinitionToAdd } from '../definitions.ts';
import { openInspector } from '../inspector.ts';
import { openProfileBed, WORKSPACE } from '../profile-store.ts';
import { STREAM_SETTINGS } from '../stream-settings.ts';
import { until } from '../until.ts';

export const STREAM = eventStreamName(0);
const SOURCE = 'src_1';
const MAX_BYTES = 1_000_000_000;

export type NatsLives = Awaited<ReturnType<typeof openNatsLives>>;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export async function openNatsLives(portions: Partial<Portions> = {}) {
  await using opening = new AsyncDisposableStack();
  const log = openLog({ level: 'silent', pretty: false });
  const bed = opening.use(await openProfileBed());
  const { store } = bed;
  bed.server.run(
    'DELETE FROM definitions; DELETE FROM compute_workspaces; UPDATE compute_version SET version = version + 1',
  );
  await store.asSystem((tx) => insertSource(tx, { workspaceId: WORKSPACE, id: SOURCE, name: SOURCE }));
  const cluster = opening.use(await startNatsCluster({ nodes: 1 }));
  const stream = opening.use(await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log }));
  const side = opening.use(await stream.computeSide());
  const { manager } = opening.use(await openInspector(cluster.adminUrl, log));
  const copies = opening.use(await openStreamCopies({ natsUrl: cluster.adminUrl }));

  const profiles = openProfileStore(store);
  const plans = openKnownPlans();
  const sources = openKnownSources(store, (workspaceId) => plans.planOf(workspaceId) !== undefined);
  const users = openWithheldUsers(store);
  const [metrics, watermark] = [openMetrics(), openWatermark()];
  const parts = { profiles, plans, sources, watermark, log, folding: openFolding({ plans, sources, users, metrics }) };
  let definitionChanges = 0;
  const changed = () => undefined;
  const definitionsRead = { metrics, changed, definitionChanges: () => definitionChanges };
  const readers = opening.use(new AsyncDisposableStack());
  const startReading = async (name: string) => {
    const reader = startReader(await profiles.takeOver(name, 'reader'), { side, ...parts, ...definitionsRead });
    readers.defer(() => reader.stop());
  };
  let isReading = false;

  const hooks: { beforeStep?: () => Promise<void>; batchRead?: () => Promise<void> } = {};
  const held = await profiles.takeOver('lifecycle', 'test');
  const needs: JobNeeds = {
    store,
    side: { ...side, batches: (wanted) => told(side.batches(wanted), () => hooks.batchRead?.()) },
    ...parts,
    users,
    portions: { ...PORTIONS, ...portions },
    changed,
    changedDefinitions: () => void (definitionChanges += 1),
    async step(work) {
      await hooks.beforeStep?.();
      return profiles.foldWith(held, async (tx, sql) => {
        await plans.refresh(tx);
        return work(tx, sql);
      });
    },
    turn: () => Promise.resolve(),
  };
  const sql = <Row extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
    store.asSystem((tx) => tx.query<Row>(text, values));

  const open = opening.move();
  return {
    store,
    sql,
    manager,
    hooks,
    startReading,
    /** One request; resolves with its sequence. */
    send: (calls: readonly object[]) => append(stream, 0, calls),
    /** A process begins whose settings ask for one stream more; resolves with a function that stores a request in it. */
    async addStream() {
      const settings = { ...STREAM_SETTINGS, eventStreams: 2 };
      const other = open.use(await openStream({ natsUrl: cluster.url, settings, log }));
      return (calls: readonly object[]) => append(other, 1, calls);
    },
    storedAt: async (seq: number) => (await manager.streams.getMessage(STREAM, { seq }))?.time.getTime() ?? 0,
    /** The first one makes the reader begin, at the end of the stream. */
    async create(added: Omit<DefinitionToAdd, 'workspaceId'>): Promise<string> {
      const id = await createDefinition(store, { workspaceId: WORKSPACE, ...added });
      definitionChanges += 1;
      if (!isReading) await startReading(STREAM);
      isReading = true;
      return id;
    },
    /** Works until there is nothing to do. */
    async runJobs(): Promise<void> {
      await until(async () => {
        const [job] = await store.asSystem(listJobs);
        await (job && runJob(job, needs).catch(expected));
        return job === undefined;
      });
    },
    /** Resolves when the reader has read everything that is stored now. */
    async allRead(): Promise<void> {
      const { state } = await manager.streams.info(STREAM);
      const at = `SELECT 1 AS one FROM compute_positions WHERE stream = $1 AND sequence >= $2`;
      await until(async () => (await sql(at, [STREAM, state.last_seq])).length === 1);
    },
    /** The stream is deleted and made again, with nothing in it. */
    async remake(): Promise<void> {
      await manager.streams.delete(STREAM);
      const [plan] = layout(STREAM_SETTINGS, () => MAX_BYTES).streams;
      await manager.streams.add({ ...plan, name: STREAM });
    },
    /** A backup of the stream; the function puts it in the place of what the stream holds then. */
    async backup(): Promise<() => Promise<void>> {
      const chunks: Uint8Array[] = [];
      const write = (chunk: Uint8Array) => Promise.resolve(void chunks.push(Uint8Array.from(chunk)));
      const { config } = await copies.snapshot(STREAM, { write });
      return async () => {
        await copies.remove(STREAM);
        await copies.restore({ config, chunks: each(chunks) });
      };
    },
    /** Values of a computed trait by user, and from when it is complete. */
    async found(id: string): Promise<{ values: Record<string, number>; completeFrom: number | null }> {
      const [row] = await sql<{ number: number; from: number | null }>(
        `SELECT number, (extract(epoch FROM complete_from) * 1000)::float8 AS from FROM definitions WHERE id = $1`,
        [id],
      );
      const members = await sql<{ id: string; value: string }>(
        `SELECT p.id, m.value FROM memberships m JOIN profiles p USING (profile_key) WHERE m.definition = $1 ORDER BY 1`,
        [row?.number],
      );
      const values = Object.fromEntries(members.map((each) => [each.id, Number(each.value)]));
      return { values, completeFrom: row?.from ?? null };
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

async function append({ append: store }: Pick<Stream, 'append'>, home: number, calls: readonly object[]) {
  const id = randomUUID().replaceAll('-', '');
  const envelope = JSON.stringify({ shape: 'batch', receivedAt: new Date().toISOString(), requestId: id, v: 1 });
  const appended = await store({
    sourceId: SOURCE,
    id,
    home,
    envelope,
    body: Buffer.from(JSON.stringify({ batch: calls })),
  });
  if (!appended.ok) throw new Error(appended.why);
  return appended.sequence;
}

function told(reader: ReturnType<ComputeSide['batches']>, batchRead: () => Promise<void> | undefined): typeof reader {
  return {
    async next(waitMs) {
      const batch = await reader.next(waitMs);
      if (batch !== undefined && batch.requests.length > 0) await batchRead();
      return batch;
    },
    [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
  };
}

async function* each(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(chunk);
}

/** The lifecycle begins such a job again. */
function expected(error: unknown): void {
  if (error instanceof JobEnded || error instanceof JobWaiting || error instanceof StreamChanged) return;
  throw error;
}
