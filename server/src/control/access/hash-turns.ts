/**
 * The line for password hashes. One hash runs at a time, because it takes a core for about 80 ms and 19 MiB. A request for a turn waits,
 * runs or is refused. It waits in one of three lines, and a free turn goes to the first line that is not empty:
 *
 * - `known`: a browser that has signed in to this account before, a session, a link that was checked;
 * - `fresh`: a network with few wrong tries lately;
 * - `failing`: all other networks. This line has a budget: after a wrong try it rests for three times as long as the try took.
 *
 * Each line serves its newest request first, because in an overload the senders of the oldest have given up. A full line refuses its
 * oldest request, and a request that waits too long is refused as well.
 */
export type HashLine = 'known' | 'fresh' | 'failing';
export type HashTurn = Disposable & {
  /** The password was right: the line does not rest. */
  succeeded(): void;
};
type HashTurns = {
  /** Resolves with a turn, to be disposed; with undefined when the request is refused. */
  enter(line: HashLine): Promise<HashTurn | undefined>;
  waiting(): number;
};
type TurnSettings = { maxWaiting: Readonly<Record<HashLine, number>>; patienceMs: number };

const REST_FACTOR = 3;

type Waiter = { begin(): void; refuse(): void };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openHashTurns({ maxWaiting, patienceMs }: TurnSettings, nowMs = () => performance.now()): HashTurns {
  const lines: Record<HashLine, Waiter[]> = { known: [], fresh: [], failing: [] };
  let isBusy = false;
  let restsUntil = -Infinity;
  let waking: NodeJS.Timeout | undefined;

  function admitNext(): void {
    if (isBusy) return;
    const isResting = nowMs() < restsUntil;
    const next = lines.known.pop() ?? lines.fresh.pop() ?? (isResting ? undefined : lines.failing.pop());
    if (next !== undefined) next.begin();
    else if (lines.failing.length > 0) wakeAfterRest();
  }

  function wakeAfterRest(): void {
    waking ??= setTimeout(
      () => {
        waking = undefined;
        admitNext();
      },
      Math.max(1, restsUntil - nowMs()),
    );
  }

  function turnIn(line: HashLine): HashTurn {
    const startedAt = nowMs();
    let isRight = false;
    return {
      succeeded: () => void (isRight = true),
      [Symbol.dispose]() {
        isBusy = false;
        if (line === 'failing' && !isRight) restsUntil = nowMs() + REST_FACTOR * (nowMs() - startedAt);
        admitNext();
      },
    };
  }

  return {
    waiting: () => lines.known.length + lines.fresh.length + lines.failing.length,
    enter: (line) =>
      new Promise((resolve) => {
        const waiters = lines[line];
        const patience = setTimeout(() => waiter.refuse(), patienceMs);
        const waiter: Waiter = {
          begin() {
            clearTimeout(patience);
            isBusy = true;
            resolve(turnIn(line));
          },
          refuse() {
            clearTimeout(patience);
            if (waiters.includes(waiter)) waiters.splice(waiters.indexOf(waiter), 1);
            resolve(undefined);
          },
        };
        waiters.push(waiter);
        if (waiters.length > maxWaiting[line]) waiters[0]?.refuse();
        admitNext();
      }),
  };
}
