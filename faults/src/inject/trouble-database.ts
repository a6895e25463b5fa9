import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultRun, Findings } from '../run-fault.ts';
import type { Database } from '../start-database.ts';
import { CI, disturbRecord, FULL } from './stop-recorder.ts';

type Trouble = (database: Database, ms: number) => Promise<void>;

/** Every statement that needs one of these tables waits. */
const lockTables: Trouble = ({ run }, ms) =>
  run(`BEGIN; LOCK TABLE deliveries, attempts, sources, outbox IN ACCESS EXCLUSIVE MODE;
    SELECT pg_sleep(${ms / 1_000}); COMMIT`);

const beReadOnly: Trouble = async ({ run }, ms) => {
  const set = async (value: string) => {
    // PostgreSQL takes no other statement beside ALTER SYSTEM.
    await run(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
    await run('SELECT pg_reload_conf()');
  };
  await set('on');
  await sleep(ms);
  await set('off');
};

/** As PostgreSQL does to one of two transactions that wait for each other. */
const breakDeadlocks: Trouble = async ({ run }, ms) => {
  await run(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'provoked' USING ERRCODE = '40P01'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON deliveries EXECUTE FUNCTION refuse()`);
  await sleep(ms);
  await run('DROP FUNCTION refuse CASCADE');
};

const TROUBLES: readonly Trouble[] = [lockTables, beReadOnly, breakDeadlocks];

/**
 * PostgreSQL is up and does not work: its tables are locked, it is read-only as after a failover, it breaks deadlocks, one after the
 * other. Deliveries do not notice, and the record is exact when it is well again.
 */
export function troubleDatabase(run: FaultRun): Promise<Findings> {
  const sizes = run.isFull ? { ...FULL, awayMs: 60_000 } : { ...CI, quietMs: 2_000, awayMs: 4_500 };
  return disturbRecord(run, sizes, ({ database }) => {
    let over: Promise<void> | undefined;
    return {
      begin: async () => {
        over = inTurn(database, sizes.awayMs / TROUBLES.length);
      },
      end: async () => over,
    };
  });
}

async function inTurn(database: Database, ms: number): Promise<void> {
  for (const trouble of TROUBLES) await trouble(database, ms);
}
