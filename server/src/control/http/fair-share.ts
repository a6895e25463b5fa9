/**
 * Limits concurrency and divides it fairly: each key (a workspace) has at most `perKey` turns at once, and keys with waiting
 * requests take turns. A request is inside, waiting, or refused: only a few of one key, and of one member of it (a token, a
 * user), may wait, so that nothing piles up in memory. A request leaves by disposing its turn, which admits the next one.
 */
export type FairShare = {
  /** Resolves with a turn; with undefined when too many wait already, or the wait took longer than `patienceMs`. */
  enter(key: string, member?: string): Promise<Turn | undefined>;
  inside(): number;
};
export type Turn = Disposable;

export type ShareSettings = {
  total: number;
  perKey: number;
  /** Inside and waiting together. */
  perMember?: number;
  maxWaiting: number;
  patienceMs: number;
};

type Waiter = { admit(): void };
type Share = { inside: number; waiting: Waiter[]; members: Map<string, number> };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openFairShare({
  total,
  perKey,
  perMember = Infinity,
  maxWaiting,
  patienceMs,
}: ShareSettings): FairShare {
  /** In the order of their turns: the key that was admitted last is at the end. */
  const shares = new Map<string, Share>();
  let inside = 0;

  const hasRoom = (share: Share) => inside < total && share.inside < perKey;

  function admit(key: string, share: Share): void {
    inside += 1;
    share.inside += 1;
    shares.delete(key);
    shares.set(key, share);
  }

  /** The key that was admitted longest ago goes first. */
  function admitWaiting(): void {
    const next = [...shares].find(([, share]) => share.waiting.length > 0 && hasRoom(share));
    if (next === undefined) return;
    const [key, share] = next;
    admit(key, share);
    share.waiting.shift()?.admit();
    admitWaiting();
  }

  function forget(key: string, share: Share, member: string): void {
    const left = (share.members.get(member) ?? 1) - 1;
    if (left > 0) share.members.set(member, left);
    else share.members.delete(member);
    if (share.members.size === 0) shares.delete(key);
  }

  return {
    inside: () => inside,
    async enter(key, member = '') {
      const share = shares.get(key) ?? { inside: 0, waiting: [], members: new Map<string, number>() };
      const mine = share.members.get(member) ?? 0;
      if (mine >= perMember) return undefined;
      const mayEnter = hasRoom(share);
      if (!mayEnter && share.waiting.length >= maxWaiting) return undefined;
      shares.set(key, share);
      share.members.set(member, mine + 1);
      if (mayEnter) admit(key, share);
      else if (!(await waitIn(share, patienceMs))) {
        forget(key, share, member);
        return undefined;
      }
      return {
        [Symbol.dispose]() {
          inside -= 1;
          share.inside -= 1;
          forget(key, share, member);
          admitWaiting();
        },
      };
    },
  };
}

/** False when it took too long. */
function waitIn(share: Share, patienceMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const waiter: Waiter = {
      admit() {
        clearTimeout(timer);
        resolve(true);
      },
    };
    const timer = setTimeout(() => {
      share.waiting.splice(share.waiting.indexOf(waiter), 1);
      resolve(false);
    }, patienceMs);
    share.waiting.push(waiter);
  });
}
