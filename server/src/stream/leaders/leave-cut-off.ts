import { TICKETS_STREAM } from '../layout/layout.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { askLeader } from './ask-leader.ts';
import { every } from '../../pause.ts';

const ASK_EVERY_MS = 2_000;
const ANSWER_MS = 1_000;
/** An election takes four to eight seconds, and is no reason to leave. */
const ELECTION_MS = 8_000;
/** Questions in a row without an answer: about ten seconds. */
const FIRST_PATIENCE = 5;
/** A minute. */
const LONGEST_PATIENCE = 30;

/**
 * A server that is cut off from its cluster still answers pings, so the connection stands and nothing comes over it. In a cluster the
 * connection therefore asks the leader of TICKETS through its server, until it is closed, and leaves the server when the leader has been
 * silent for too long.
 */
export function leavingCutOff(connection: Connection): Connection {
  const patience = openPatience();
  let isAsking = false;

  async function look(): Promise<void> {
    if (isAsking || !canBeCutOff()) return;
    isAsking = true;
    const askedAt = performance.now();
    const hasAnswered = (await askLeader(connection.nc, TICKETS_STREAM, ANSWER_MS)) !== undefined;
    isAsking = false;
    // A question that the loss of the connection ended says nothing about the next server.
    if (!canBeCutOff() || !patience.isOver(hasAnswered, askedAt)) return;
    connection.leaveServer('no leader of TICKETS answered through it');
  }

  /** Without a connection it is looking for another server anyway; and a single server has no cluster to be cut off from. */
  function canBeCutOff(): boolean {
    return connection.isConnected() && connection.nc.info?.cluster !== undefined;
  }

  const timer = every(ASK_EVERY_MS, () => void look());
  void connection.nc.closed().then(() => timer[Symbol.dispose]());
  return connection;
}

type Patience = {
  /** Told after each question, with when it was asked. */
  isOver(hasAnswered: boolean, askedAt: number): boolean;
};

/**
 * Ends after ten seconds of silence. If TICKETS has no leader at all, no server is better than another: each end without an answer since
 * the last one doubles the patience, up to a minute. An answer makes it short again.
 */
export function openPatience(now = () => performance.now()): Patience {
  let unanswered = 0;
  let silentSince = 0;
  let most = FIRST_PATIENCE;
  return {
    isOver(hasAnswered, askedAt) {
      unanswered = hasAnswered ? 0 : unanswered + 1;
      if (unanswered === 1) silentSince = askedAt;
      if (hasAnswered) most = FIRST_PATIENCE;
      if (unanswered < most || now() - silentSince < ELECTION_MS) return false;
      unanswered = 0;
      most = Math.min(most * 2, LONGEST_PATIENCE);
      return true;
    },
  };
}
