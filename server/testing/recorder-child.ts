/**
 * The recorder as a process of its own that kills itself at one step of its work. Started with the URLs of NATS and PostgreSQL, the
 * number of streams, the step (the n-th query of its first transaction that writes, its commit, or an acknowledgement; empty: it lives), and how
 * many plain successes have a row.
 */
import process from 'node:process';
import { openLog } from '../src/log.ts';
import { startRecorders } from '../src/record/record-streams.ts';
import { openStore, type Store, type Tx } from '../src/store/open-store.ts';
import type { RecordSide } from '../src/stream/open-record-side.ts';
import { openStream } from '../src/stream/open-stream.ts';
import { STREAM_SETTINGS } from './stream-settings.ts';

const [natsUrl = '', databaseUrl = '', streams = '1', step = '', rows = '1'] = process.argv.slice(2);
const log = openLog({ level: 'silent', pretty: false });
const die = () => void process.kill(process.pid, 'SIGKILL');

const dieAtQuery = (tx: Tx): Tx => {
  let queries = 0;
  return {
    query(sql, values) {
      queries += 1;
      if (queries === Number(step)) die();
      return tx.query(sql, values);
    },
  };
};

const mortal = (store: Store): Store => ({
  ...store,
  async asSystem(work) {
    const result = await store.asSystem(async (tx) => {
      const done = await work(dieAtQuery(tx));
      if (step === 'commit') die();
      return done;
    });
    if (step === 'committed') die();
    return result;
  },
});

const mortalSide = (side: RecordSide): RecordSide => ({
  ...side,
  pullOutcomes: ({ taken, ...needs }) =>
    side.pullOutcomes({
      ...needs,
      taken: (batch) =>
        taken({
          ...batch,
          ack() {
            batch.ack();
            if (step === 'acknowledged') die();
          },
        }),
    }),
});

const settings = { ...STREAM_SETTINGS, outcomeStreams: Number(streams) };
const stream = await openStream({ natsUrl, settings, log });
startRecorders({
  store: mortal(await openStore(databaseUrl)),
  side: mortalSide(await stream.recordSide()),
  settings: { recordRetentionMs: 7 * 86_400_000, counterRetentionMs: 400 * 86_400_000, sample: 1, rows: Number(rows) },
  now: () => new Date(),
  log,
});
