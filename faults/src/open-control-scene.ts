import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { startNatsCluster } from '@millrace/engines';
import type { Senders } from './batch-maker.ts';
import { checkStored } from './check-stored.ts';
import { type ServerProcess, serverProcess, type Settings } from './server-process.ts';
import { type ControlClient, controlClient } from './control-client.ts';
import { viewEngine } from './engine-view.ts';
import type { Promises } from './judge.ts';
import { EVENT_STREAM_NAMES, sayProgress, settingsFor } from './open-scene.ts';
import { type Attempt, openOracle, type Oracle } from './oracle.ts';
import { type KeyProbe, openKeyProbe } from './probe-keys.ts';
import type { FaultRun, Findings } from './run-fault.ts';
import { seededRandom } from './seeded-random.ts';
import { type Database, startDatabase } from './start-database.ts';
import { startLoad } from './start-load.ts';

export type ControlScene = AsyncDisposable & {
  database: Database;
  /** Runs control as well: trouble of the one role would slow the other. */
  collect: ServerProcess;
  control: ControlClient;
  probe: KeyProbe;
  /** Of the load, in the order of their ends. */
  attempts: readonly Attempt[];
  /** The same load, sent to a process that has no database to miss: how the machine itself was at the time. */
  besideAttempts: readonly Attempt[];
  /** Lets the load end; every request must have been answered 200 and stored once. */
  finish(): Promise<Findings>;
};

const BATCHES_PER_SECOND = 60;

const PROMISES: Promises = { duplicates: 'never', statuses: [200], areResetsFine: false };

/** Real servers and one process of ours that plays collect and control, set up over HTTP like any installation. */
export async function openControlScene(run: FaultRun): Promise<ControlScene> {
  await using parts = new AsyncDisposableStack();
  const cluster = parts.use(await startNatsCluster({ nodes: 1, dir: run.dir }));
  const database = parts.use(await startDatabase());
  const token = randomBytes(24).toString('hex');
  const settings = { ...settingsFor(cluster.url, 1), ...controlSettings(database, token) };
  const collect = parts.use(await serverProcess(settings, join(run.dir, 'server.log')));
  const control = controlClient(`http://127.0.0.1:${controlPortIn(await collect.start())}`, token);
  const beside = parts.use(await serverProcess(settingsFor(cluster.url, 1), join(run.dir, 'beside.log')));
  await beside.start();
  const oracle = openOracle();
  const needsOfProbes = { oracle, random: seededRandom(run.seed + 2) };
  const probe = parts.use(openKeyProbe({ ...needsOfProbes, url: collect.url, name: 'probe' }));
  using besideProbe = openKeyProbe({ ...needsOfProbes, url: beside.url, name: 'beside-probe' });
  const addSender = () => newSender(control, [probe, besideProbe]);
  const senders: Senders = [await addSender(), await addSender()];
  const [main, other] = [listenIn(oracle), listenIn(oracle)];
  const needs = { batchesPerSecond: BATCHES_PER_SECOND, senders };
  const [random, otherRandom] = [seededRandom(run.seed + 1), seededRandom(run.seed + 3)];
  const load = startLoad({ ...needs, url: collect.url, oracle: main, random });
  const otherLoad = startLoad({ ...needs, url: beside.url, oracle: other, random: otherRandom, prefix: 'beside' });
  // A run that breaks off must not leave its clients behind.
  parts.defer(async () => void (await Promise.all([load.stop(), otherLoad.stop()])));
  parts.use(sayProgress(run, oracle, load));
  const engine = viewEngine(cluster, EVENT_STREAM_NAMES);
  const open = parts.move();
  return {
    database,
    collect,
    control,
    probe,
    attempts: main.attempts,
    besideAttempts: other.attempts,
    async finish() {
      await Promise.all([load.stop(), otherLoad.stop()]);
      const collects = [collect, beside];
      return checkStored({ engine, oracle, settings, disturbances: [], collects, dir: run.dir }, PROMISES);
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function controlSettings({ url, serviceUrl }: Database, token: string): Settings {
  return {
    MILLRACE_ROLES: 'collect,control',
    MILLRACE_DATABASE_URL: serviceUrl,
    MILLRACE_MIGRATION_DATABASE_URL: url,
    MILLRACE_KEYS: `1:${randomBytes(32).toString('base64')}`,
    MILLRACE_BOOTSTRAP_TOKEN: token,
    MILLRACE_CONTROL_PORT: '0',
  };
}

async function newSender(control: ControlClient, probes: KeyProbe[]) {
  const { source } = await control.createSource('Load');
  for (const probe of probes) await probe.untilAnswered(source, 200);
  return source;
}

/** Tells the oracle everything, and keeps the attempts of one load apart. */
function listenIn(oracle: Oracle): Oracle {
  const attempts: Attempt[] = [];
  return {
    ...oracle,
    attempts,
    noteAttempt(batch, attempt) {
      attempts.push(attempt);
      oracle.noteAttempt(batch, attempt);
    },
  };
}

/** The port on which control listens, by its own log. */
export function controlPortIn(log: string): number {
  const line = log.split('\n').find((text) => text.includes('control.listening')) ?? '{}';
  const { port }: { port?: number } = JSON.parse(line);
  if (port === undefined) throw new Error('control did not say where it listens');
  return port;
}
