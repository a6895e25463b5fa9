import { joinFindings } from '../join-findings.ts';
import type { Findings } from '../run-fault.ts';
import type { CutKind } from './draw-cut.ts';

/** One cut as the oracle saw it, from its begin until everything had a leader again. */
export type SeenCut = {
  kind: CutKind;
  direction: string;
  what: string;
  /** Whether requests could be stored while it lasted. */
  isServed: boolean;
  /** Whether its victims led all event streams: then no server could store before an election. */
  ledAll: boolean;
  lastedMs: number;
  /** The longest time between two answers of 200, for all clients. */
  outageMs: number;
  /** The longest time without an arrival at any receiver. */
  arrivalGapMs: number;
  /** Until collect was connected to another server, if it left its own. */
  leftMs: number | undefined;
  /** After it was healed: until every stream had a leader, and until a request was answered 200. */
  leadersMs: number;
  storedMs: number;
};

/**
 * A leader that is cut off is not believed after three seconds without a majority; collect leaves after three more in which no leader has
 * answered, and its questions and the way to the next server take the rest.
 */
const LEFT_WITHIN_MS = 10_000;
/** An election takes four to eight seconds. */
const ELECTION_MS = 10_000;
const STORED_AFTER_LEADERS_MS = 5_000;
/** In the other cuts collect may leave its server at any time, for an election that took long. */
const ISOLATING = new Set<CutKind>(['server from servers', 'server from all', 'server and roles from servers']);

/** Clients are served all along where they can be, and everywhere soon after the cut is healed. */
export function judgeCuts(cuts: readonly SeenCut[]): Findings {
  const late = cuts.flatMap((cut) => complaintsOf(cut).map((text) => `${cut.what} (${cut.direction}): ${text}`));
  const served = cuts.filter(({ isServed }) => isServed);
  const left = cuts.flatMap(({ leftMs }) => leftMs ?? []);
  const figures = {
    cuts: cuts.length,
    longestOutageServedMs: Math.max(0, ...served.map(({ outageMs }) => outageMs)),
    timesLeft: left.length,
    slowestLeftMs: Math.max(0, ...left),
    slowestLeadersMs: Math.max(0, ...cuts.map(({ leadersMs }) => leadersMs)),
    eachCut: [...cuts],
  };
  return joinFindings({ late, figures });
}

function complaintsOf(cut: SeenCut): string[] {
  const { kind, isServed, outageMs, leftMs = 0, leadersMs, storedMs } = cut;
  const mostMs = LEFT_WITHIN_MS + (hasElections(cut) ? ELECTION_MS : 0);
  return [
    ...(isServed && outageMs > mostMs ? [`clients were not served for ${outageMs} ms`] : []),
    ...(isServed && ISOLATING.has(kind) && leftMs > LEFT_WITHIN_MS
      ? [`collect left its server only after ${leftMs} ms`]
      : []),
    ...(storedMs > leadersMs + STORED_AFTER_LEADERS_MS ? [`no 200 for ${storedMs} ms after it was healed`] : []),
  ];
}

/** A server that does not hear the leader calls for elections, and the third one, which hears both, goes along. */
function hasElections({ kind, ledAll }: SeenCut): boolean {
  return ledAll || kind === 'server from one server';
}
