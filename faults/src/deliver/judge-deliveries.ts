import type { SentCall } from '../oracle.ts';
import type { Findings } from '../run-fault.ts';
import type { Arrival } from './read-arrival.ts';

/** A moment at which what was under way may have to be repeated. */
export type Strike = {
  what: string;
  from: number;
  /** From then on nothing is lost of what is said to the engine. */
  until: number;
  /** Deliveries that were under way then: each may arrive once more. */
  inFlight: number;
};

export type DeliveryEvidence = {
  calls: ReadonlyMap<string, Pick<SentCall, 'sourceId' | 'answered'>>;
  /** The destinations that have to get the events of a source. */
  destinations: readonly { id: string; sourceId: string }[];
  arrivals: readonly Arrival[];
  strikes: readonly Strike[];
  /** Events that are in the streams more than once, and how often more: collect says when that may be. */
  storedAgain?: ReadonlyMap<string, number>;
};

export type DeliveryVerdict = Findings & { repeats: Repeat[] };

/** An arrival that was answered 2xx although an earlier one had been; its cause came after `beforeAt`. */
export type Repeat = { delivery: string; messageId: string; at: number; beforeAt: number };

/** Holds what clients were promised against what arrived where. */
export function judgeDeliveries(evidence: DeliveryEvidence): DeliveryVerdict {
  const { calls, destinations, arrivals } = evidence;
  const byDelivery = Map.groupBy(arrivals, nameOf);
  const sourceOf = new Map(destinations.map(({ id, sourceId }) => [id, sourceId]));
  const bad = (problem: Arrival['problem']) => arrivals.filter((arrival) => arrival.problem === problem);
  const repeats = [...byDelivery].flatMap(([delivery, group]) => repeatsIn(delivery, group));
  const unexplained = [...byDelivery].flatMap(([delivery, group]) =>
    repeatsIn(delivery, group).slice(evidence.storedAgain?.get(group[0]?.messageId ?? '') ?? 0),
  );
  const found = {
    lost: findLost(evidence, byDelivery),
    // A call without an answer may have been stored all the same; a call that no client ever sent may not.
    ghosts: arrivals.filter(({ messageId, problem }) => problem === undefined && !calls.has(messageId)).map(nameOf),
    wrongWorkspace: arrivals.filter((arrival) => arrival.sourceId !== sourceOf.get(arrival.destinationId)).map(nameOf),
    badSignature: bad('signature').map(nameOf),
    badBody: bad('body').map(nameOf),
    changedId: [...byDelivery].filter(([, group]) => countIds(group) > 1).map(([delivery]) => delivery),
    sharedId: findSharedIds(arrivals),
  };
  const duplicates = judgeRepeats(unexplained, evidence);
  const failures = Object.entries(found).flatMap(([what, names]) => complain(names, SENTENCES[what] ?? what));
  const counts = Object.fromEntries(Object.entries(found).map(([what, names]) => [what, names.length]));
  return {
    failures: [...failures, ...duplicates.failures],
    late: [],
    figures: {
      calls: calls.size,
      arrivals: arrivals.length,
      ...counts,
      ...duplicates.figures,
      extraOfStoredTwice: repeats.length - unexplained.length,
    },
    repeats,
  };
}

const SENTENCES: Readonly<Record<string, string>> = {
  lost: 'answered 200 and never delivered',
  ghosts: 'delivered and never sent',
  wrongWorkspace: 'delivered to a destination of another source',
  badSignature: 'delivered with a wrong signature',
  badBody: 'delivered with another body than was sent',
  changedId: 'came with more than one webhook-id',
  sharedId: 'share their webhook-id with another',
};

function nameOf({ messageId, destinationId }: Pick<Arrival, 'messageId' | 'destinationId'>): string {
  return `${messageId} → ${destinationId}`;
}

function isGood({ status }: Arrival): boolean {
  return status >= 200 && status < 300;
}

function findLost({ calls, destinations }: DeliveryEvidence, byDelivery: Map<string, Arrival[]>): string[] {
  const bySource = Map.groupBy(destinations, (destination) => destination.sourceId);
  const wanted = [...calls]
    .filter(([, call]) => call.answered !== undefined)
    .flatMap(([messageId, { sourceId }]) =>
      (bySource.get(sourceId) ?? []).map(({ id }) => nameOf({ messageId, destinationId: id })),
    );
  return wanted.filter((delivery) => byDelivery.get(delivery)?.some(isGood) !== true);
}

function countIds(arrivals: readonly Arrival[]): number {
  return new Set(arrivals.map((arrival) => arrival.webhookId)).size;
}

function findSharedIds(arrivals: readonly Arrival[]): string[] {
  const byId = Map.groupBy(arrivals, (arrival) => arrival.webhookId);
  return [...byId].filter(([, group]) => new Set(group.map(nameOf)).size > 1).map(([id]) => id);
}

/** An attempt that was made twice shows where a delivery was taken up again, and which of the two came before the cause. */
function repeatsIn(delivery: string, arrivals: readonly Arrival[]): Repeat[] {
  const inOrder = arrivals.toSorted((a, b) => a.at - b.at);
  const good = inOrder.filter(isGood);
  const madeAt = new Map<number, number>();
  const takenUpAgain: number[] = [];
  for (const { attempt, at } of inOrder) {
    const before = madeAt.get(attempt);
    if (before !== undefined) takenUpAgain.push(before);
    madeAt.set(attempt, at);
  }
  return good.slice(1).map(({ at, messageId }, index) => ({
    delivery,
    messageId,
    at,
    beforeAt: takenUpAgain[index] ?? good[index]?.at ?? 0,
  }));
}

/** Strikes that overlap count as one: the cause of a repeat cannot be told apart. */
function mergeOverlapping(strikes: readonly Strike[]): Strike[] {
  const merged: Strike[] = [];
  for (const strike of strikes.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last === undefined || strike.from > last.until) merged.push({ ...strike });
    else {
      last.what += ` and ${strike.what}`;
      last.until = Math.max(last.until, strike.until);
      last.inFlight += strike.inFlight;
    }
  }
  return merged;
}

/** Deliveries made and not yet settled when a strike came are delivered again: as many as were in flight, and no more. */
function judgeRepeats(repeats: readonly Repeat[], { calls, strikes: all }: DeliveryEvidence) {
  const strikes = mergeOverlapping(all);
  const causeOf = ({ beforeAt, messageId }: Repeat) => {
    const after = strikes.findIndex(({ until }) => until >= beforeAt);
    const acceptedAt = calls.get(messageId)?.answered?.endedAt ?? Infinity;
    // It had not arrived anywhere yet, but was in its lane already, and its request was not acknowledged: now it is there twice.
    return after === -1 ? strikes.findLastIndex(({ until }) => until >= acceptedAt) : after;
  };
  const byCause = Map.groupBy(repeats, causeOf);
  const each = strikes.map(({ what, inFlight }, index) => ({
    what,
    extra: byCause.get(index)?.length ?? 0,
    inFlight,
  }));
  const causeless = byCause.get(-1)?.map((repeat) => repeat.delivery) ?? [];
  const tooMany = each.filter(({ extra, inFlight }) => extra > inFlight);
  return {
    failures: [
      ...complain(causeless, 'came again although nothing had happened'),
      ...tooMany.map(
        ({ what, extra, inFlight }) => `${extra} deliveries came again after ${what}, but ${inFlight} were under way`,
      ),
    ],
    figures: { extra: repeats.length, each },
  };
}

function complain(names: readonly string[], what: string): string[] {
  return names.length === 0 ? [] : [`${names.length} deliveries ${what}: ${names.slice(0, 3).join(', ')}`];
}
