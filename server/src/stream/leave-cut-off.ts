import { CLOCK_SUBJECT } from './layout/layout.ts';
import type { Connection } from './nats/connect-nats.ts';

const ASK_EVERY_MS = 2_000;
/** Silent answers in a row, ten seconds: an election takes four to eight, and is no reason to leave. */
const MOST_SILENT = 5;

/**
 * A server that is cut off from its cluster still answers pings, so the connection stands and nothing comes over it. In a cluster the
 * connection therefore asks the leader of TICKETS through its server, until it is closed, and leaves the server when none has answered
 * for long.
 */
export function leavingCutOff(connection: Connection): Connection {
  let silent = 0;
  let isAsking = false;

  async function look(): Promise<void> {
    if (isAsking) return;
    isAsking = true;
    silent = isLost() || (await hasLeader(connection)) ? 0 : silent + 1;
    isAsking = false;
    if (silent < MOST_SILENT || isLost()) return;
    silent = 0;
    connection.leaveServer('no stream leader answered through it');
  }

  /** Without a connection it is looking for another server anyway; and a single server cannot be cut off from others. */
  function isLost(): boolean {
    return !connection.isConnected() || connection.nc.info?.cluster === undefined;
  }

  const timer = setInterval(() => void look(), ASK_EVERY_MS).unref();
  void connection.nc.closed().then(() => clearInterval(timer));
  return connection;
}

/** A server without a leader says so itself after a while: an answer of 503. Any other answer is one of a leader. */
async function hasLeader({ nc }: Pick<Connection, 'nc'>): Promise<boolean> {
  try {
    const answer = await nc.request(CLOCK_SUBJECT, '', { timeout: ASK_EVERY_MS });
    return answer.json<{ error?: { code?: number } }>().error?.code !== 503;
  } catch {
    return false;
  }
}
