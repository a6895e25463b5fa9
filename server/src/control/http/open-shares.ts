import type { Actor } from '../access/actor.ts';
import { type FairShare, openFairShare, type Turn } from './fair-share.ts';
import { ApiProblem, type ProblemCode } from '../problems/problems.ts';

/**
 * The limits that divide one control process among workspaces. The store has ten connections: those that are left serve
 * sign-in, the projector, the recorder, jobs and `/readyz`.
 */
export type Shares = {
  /** A transaction of a workspace. */
  transact(actor: Actor): Promise<Turn>;
  /** A costly read: a preview, a scan of dead letters, an explanation. */
  ask(actor: Actor): Promise<Turn>;
  /** A question to deliver: it waits for a receiver, which may be slow, and so keeps no other question waiting. */
  askDeliver(actor: Actor): Promise<Turn>;
};

const TRANSACTIONS = { total: 7, perKey: 4, maxWaiting: 200, patienceMs: 5_000 };
const QUESTIONS = { total: 4, perKey: 2, perMember: 4, maxWaiting: 8, patienceMs: 10_000 };
/** Fewer than one deliver process answers at a time. */
const TO_DELIVER = { total: 16, perKey: 4, perMember: 4, maxWaiting: 8, patienceMs: 10_000 };

export function openShares(): Shares {
  const transactions = openFairShare(TRANSACTIONS);
  const questions = openFairShare(QUESTIONS);
  const toDeliver = openFairShare(TO_DELIVER);
  return {
    transact: (actor) => enter(transactions, actor, 'too_many_requests'),
    ask: (actor) => enter(questions, actor, 'too_many_questions'),
    askDeliver: (actor) => enter(toDeliver, actor, 'too_many_questions'),
  };
}

async function enter(share: FairShare, { workspaceId, id }: Actor, code: ProblemCode): Promise<Turn> {
  const turn = await share.enter(workspaceId, id);
  if (turn === undefined) throw new ApiProblem(code);
  return turn;
}
