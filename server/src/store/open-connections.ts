import { Pool, type PoolClient } from 'pg';

export type Connections = {
  /** For one transaction. */
  take(): Promise<PoolClient>;
  /** With the error that says that the connection is lost, if it is. */
  giveBack(client: PoolClient, lost: Error | undefined): void;
  end(): Promise<void>;
};

/** The library's word for a server that has sent nothing at all. */
const SILENCE = 'Query read timeout';

export function openConnections(databaseUrl: string): Connections {
  const pool = new Pool({
    connectionString: databaseUrl,
    max: 10,
    // Loops that have their turn every half minute find a connection: a new one costs PostgreSQL a process.
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: 2_000,
    statement_timeout: 5_000,
    // The server enforces the limit above; this one is for a server that does not answer at all.
    query_timeout: 6_000,
    idle_in_transaction_session_timeout: 10_000,
  });
  const open = new Set<PoolClient>();
  /** Open while another connection waited for a silent server in vain. */
  const suspects = new WeakSet<PoolClient>();
  pool.on('error', ignore);
  pool.on('connect', (client) => {
    open.add(client);
    // The library reports a lost connection twice: to the waiting query, and as an event that would end the process. PostgreSQL can
    // end a connection in the packet that ends its login, when the transaction that waits for the connection does not have it yet.
    client.on('error', ignore);
  });
  pool.on('remove', (client) => void open.delete(client));
  return {
    async take() {
      const client = await pool.connect();
      if (!suspects.has(client)) return client;
      client.release(true);
      return this.take();
    },
    giveBack(client, lost) {
      if (lost?.message === SILENCE) for (const each of open) suspects.add(each);
      client.release(lost);
    },
    end: () => pool.end(),
  };
}

function ignore(): void {
  // The next query reports it better.
}
