/**
 * Lets a few in at a time, and divides the turns fairly: each key (a workspace) has at most `perKey` turns at once, and keys
 * with requests that wait take turns. Of one key, and of one member of it (a token, a session), only a few may wait; the
 * others are refused at once, so that nothing piles up in memory.
 */
export type FairShare = {
  /** Resolves when it is this one's turn; undefined when too many wait already, or it took too long. */
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
/** `shares` are in the order of their turns: whichever was let in last is at the end. */
type State = { settings: ShareSettings; shares: Map<string, Share>; inside: number };

export function openFairShare(settings: ShareSettings): FairShare {
  const state: State = { settings, shares: new Map(), inside: 0 };
  const { shares } = state;
  return {
    inside: () => state.inside,
    async enter(key, member = '') {
      const share = shares.get(key) ?? { inside: 0, waiting: [], members: new Map<string, number>() };
      const mine = share.members.get(member) ?? 0;
      if (mine >= (settings.perMember ?? Infinity)) return undefined;
      const mayEnter = hasRoom(state, share);
      if (!mayEnter && share.waiting.length >= settings.maxWaiting) return undefined;
      shares.set(key, share);
      share.members.set(member, mine + 1);
      if (mayEnter) admit(state, key, share);
      else if (!(await waitIn(share, settings.patienceMs))) {
        forget(state, { key, share, member });
        return undefined;
      }
      return {
        [Symbol.dispose]() {
          state.inside -= 1;
          share.inside -= 1;
          forget(state, { key, share, member });
          admitWaiting(state);
        },
      };
    },
  };
}

function hasRoom({ settings, inside }: State, share: Share): boolean {
  return inside < settings.total && share.inside < settings.perKey;
}

function admit(state: State, key: string, share: Share): void {
  state.inside += 1;
  share.inside += 1;
  state.shares.delete(key);
  state.shares.set(key, share);
}

/** Those whose key was let in longest ago go first. */
function admitWaiting(state: State): void {
  const next = [...state.shares].find(([, share]) => share.waiting.length > 0 && hasRoom(state, share));
  if (next === undefined) return;
  const [key, share] = next;
  admit(state, key, share);
  share.waiting.shift()?.admit();
  admitWaiting(state);
}

function forget({ shares }: State, { key, share, member }: { key: string; share: Share; member: string }): void {
  const left = (share.members.get(member) ?? 1) - 1;
  if (left > 0) share.members.set(member, left);
  else share.members.delete(member);
  if (share.members.size === 0) shares.delete(key);
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
