import { escapeLiteral } from 'pg';
import { type Connections, openConnections } from './open-connections.ts';

/** One transaction. Every query of the store takes one as its first argument. */
export type Tx = {
  query<Row extends Record<string, unknown>>(sql: string | Statement, values?: readonly unknown[]): Promise<Row[]>;
};

/** A statement that each connection prepares once. A value that is a Buffer is sent in PostgreSQL's binary format. */
export type Statement = { name: string; text: string };

export type Store = AsyncDisposable & {
  /** A transaction that sees one workspace: row-level security hides the others, even from a query without a filter. */
  inWorkspace<T>(workspaceId: string, work: (tx: Tx) => Promise<T>): Promise<T>;
  /** The same, read-only: all its queries see one snapshot. */
  readWorkspace<T>(workspaceId: string, work: (tx: Tx) => Promise<T>): Promise<T>;
  /** A transaction that sees all workspaces: for signing in, for the projector, for the first start. */
  asSystem<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Whether an SQL condition holds, over all workspaces: for what a loop asks again and again. Those that are asked in the same turn of the
   * event loop share one round trip.
   */
  holds(condition: string): Promise<boolean>;
};

/** The database did not answer: the caller may retry. Whether the transaction was committed is unknown. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The database answers, and this version must not use it: an operator has to act. The message says why. */
export class StoreRefused extends StoreUnavailable {}

/** Row-level security does not bind a superuser, but it binds this role. */
export const APP_ROLE = 'millrace_app';

/** Whether the login may become a role: a login that may only grant the role to others (PostgreSQL 16) cannot. */
export const CAN_PLAY = `CASE WHEN current_setting('server_version_num')::int >= 160000
  THEN pg_has_role(current_user, oid, 'SET') ELSE pg_has_role(current_user, oid, 'MEMBER') END`;

export async function openStore(databaseUrl: string): Promise<Store> {
  const connections = openConnections(databaseUrl);
  const roleStatement = (await canPlayAppRole(connections)) ? `SET LOCAL ROLE ${APP_ROLE};` : '';
  return {
    inWorkspace: (workspaceId, work) => transact(connections, `BEGIN; ${roleStatement} ${scopeOf(workspaceId)}`, work),
    readWorkspace: (workspaceId, work) =>
      transact(connections, `${BEGIN_READING}; ${roleStatement} ${scopeOf(workspaceId)}`, work),
    asSystem: (work) => transact(connections, `BEGIN; ${roleStatement} SET LOCAL millrace.system = 'on'`, work),
    holds: openGlances((conditions) =>
      glance(connections, `BEGIN READ ONLY; ${roleStatement} SET LOCAL millrace.system = 'on'`, conditions),
    ),
    [Symbol.asyncDispose]: () => connections.end(),
  };
}

const BEGIN_READING = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

function scopeOf(workspaceId: string): string {
  return `SET LOCAL millrace.workspace_id = ${escapeLiteral(workspaceId)}; SET LOCAL millrace.system = 'off'`;
}

async function transact<T>(connections: Connections, begin: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  const client = await connections.take().catch(rethrowUnavailable);
  let failure: Error | undefined;
  try {
    await client.query(begin);
    const result = await work({
      query: async (sql, values = []) => {
        const { rows } = await client.query({
          ...(typeof sql === 'string' ? { text: sql } : sql),
          values: [...values],
        });
        return rows;
      },
    });
    await client.query('COMMIT');
    return result;
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    if (isConnectionLost(failure)) return rethrowUnavailable(failure);
    await client.query('ROLLBACK').catch(() => undefined);
    throw failure;
  } finally {
    connections.giveBack(client, failure !== undefined && isConnectionLost(failure) ? failure : undefined);
  }
}

type Glance = { condition: string; answer: PromiseWithResolvers<boolean> };

/** Gathers the conditions of one turn of the event loop. When one of them fails, each is asked alone. */
function openGlances(look: (conditions: readonly string[]) => Promise<boolean[]>): Store['holds'] {
  const gathered: Glance[] = [];

  async function answerAll(glances: Glance[]): Promise<void> {
    try {
      const held = await look(glances.map(({ condition }) => condition));
      for (const [index, { answer }] of glances.entries()) answer.resolve(held[index] === true);
    } catch (error) {
      if (glances.length === 1 || isUnavailable(error)) for (const { answer } of glances) answer.reject(error);
      else for (const each of glances) await answerAll([each]);
    }
  }

  return (condition) => {
    const answer = Promise.withResolvers<boolean>();
    gathered.push({ condition, answer });
    if (gathered.length === 1) setImmediate(() => void answerAll(gathered.splice(0)));
    return answer.promise;
  };
}

/** One transaction, sent at once. */
async function glance(connections: Connections, begin: string, conditions: readonly string[]): Promise<boolean[]> {
  const client = await connections.take().catch(rethrowUnavailable);
  let failure: Error | undefined;
  try {
    const columns = conditions.map((condition, index) => `(${condition}) AS "${index}"`);
    // The library answers several statements with one result each.
    const results = (await client.query(`${begin}; SELECT ${columns.join(', ')}; COMMIT`)) as unknown as Results;
    const [row] = results.flatMap(({ rows }) => rows);
    return conditions.map((_, index) => row?.[index] === true);
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    if (isConnectionLost(failure)) return rethrowUnavailable(failure);
    await client.query('ROLLBACK').catch(() => undefined);
    throw failure;
  } finally {
    connections.giveBack(client, failure !== undefined && isConnectionLost(failure) ? failure : undefined);
  }
}

type Results = { rows: Record<string, unknown>[] }[];

async function canPlayAppRole(connections: Connections): Promise<boolean> {
  const sql = `SELECT ${CAN_PLAY} AS can FROM pg_roles WHERE rolname = '${APP_ROLE}'`;
  const ask = (tx: Tx) => tx.query<{ can: boolean }>(sql);
  const [row] = await transact(connections, 'BEGIN', ask).catch(rethrowUnavailable);
  return row?.can === true;
}

function rethrowUnavailable(error: unknown): never {
  throw new StoreUnavailable(error instanceof Error ? error.message : String(error), { cause: error });
}

/**
 * PostgreSQL's class 08 (connection), 57P (shutdown), 53300 (too many connections), 57014 and 25P03 (our time limits), and
 * what the socket itself says.
 */
function isConnectionLost(error: Error): boolean {
  const code = codeOf(error);
  if (code.startsWith('08') || code.startsWith('57P') || ['53300', '57014', '25P03'].includes(code)) return true;
  if (/^E(CONN|PIPE|HOST|TIMEDOUT|NOTFOUND|AI_AGAIN)/.test(code)) return true;
  return /Connection terminated|timeout (exceeded|expired)|Query read timeout|not queryable/.test(error.message);
}

/** Whether a retry may help: the database was unreachable, it did not refuse. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof StoreUnavailable || (error instanceof Error && isConnectionLost(error));
}

/**
 * Whether PostgreSQL refused the data itself (class 22, a value that it cannot hold, and 23, a constraint): the same data
 * will be refused again, however well the database is.
 */
export function isRefusedData(error: unknown): boolean {
  return /^2[23][0-9A-Z]{3}$/.test(codeOf(error));
}

/**
 * Whether the trouble is the database's and not that of one statement: connections, a read-only server, deadlocks and
 * serialization, missing resources such as disk, locks, interventions of an operator, failures of the system.
 */
export function isOfDatabase(error: unknown): boolean {
  return isUnavailable(error) || /^(08|25|40|53|55|57|58)/.test(codeOf(error));
}

/** Whether an insert failed because the row exists. */
export function isConflict(error: unknown): boolean {
  return codeOf(error) === '23505';
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
