/**
 * The cap of one host over all workspaces: how many POSTs it gets at a time and a second. Each process takes its part of the cap.
 *
 * A host is below its cap, and attempts start at once; or lines wait for their turn at it. `admits` makes a line wait, `next` gives the
 * turns: to the workspace that was served longest ago, and there to the line that has waited longest. `take` and `release` count
 * the POSTs under way. A line that waits holds no slot and counts no failure. Hosts know nothing of each other, so a full one
 * delays no other.
 *
 * A line with targets at several hosts takes its turn at each of them, in the order of their names, and keeps its places at the former
 * ones while it waits at the next: a turn at one host never opens another, and two lines never wait for each other. `withdraw`
 * gives its places back when nothing of the line waits any more.
 */
import { newTokenBucket, refill, type TokenBucket } from '../../domain/token-bucket.ts';
import type { HostCap } from '../../limits/limits.ts';
import { hostOf } from '../../limits/target-host.ts';
import { postsFor } from '../attempt/make-posts.ts';
import type { Webhook } from '../attempt/webhook.ts';
import type { Line, PendingAttempt } from './line.ts';

export type HostTurns = {
  /** Whether the attempt may start by the caps of its hosts. If not, its line waits for its turn at the one that is full. */
  admits(line: Line, pending: PendingAttempt): boolean;
  /** Counts the POSTs of an attempt that `admits` let in and that starts; `release` ends them. */
  take(line: Line, pending: PendingAttempt): Taken;
  release(taken: Taken): void;
  /** The line whose turn has come at a host: `admits` lets it in there before all other lines. */
  next(): Line | undefined;
  /** Nothing of the line waits any more: gives the places back that it kept. */
  withdraw(line: Line): void;
  /** Whether a new delivery would only wait in memory: then it goes to its lane at once. */
  isCrowded(line: Line, webhook: Webhook): boolean;
  /** About how long a line waits for its turn; 0 when it need not. */
  turnInMs(webhook: Webhook): number;
  /** Hosts at which lines wait. */
  atCap(): number;
  forgetIdle(): void;
};

export type Taken = readonly (readonly [Host, posts: number])[];

type Host = {
  name: string;
  inFlight: number;
  budget: TokenBucket;
  /** Lines that wait, by workspace, with the POSTs that each wants to make. */
  waiting: Map<string, Map<Line, number>>;
  /** The number of the last turn that each workspace had. */
  servedAt: Map<string, number>;
  usedAt: number;
  /** POSTs of the last second that is over, and of the current one. */
  recent: { since: number; posts: number; before: number };
};

export type HostTurnsNeeds = { cap: HostCap | undefined; peers(): number; uptimeMs(): number };

/** POSTs of new deliveries of one destination that wait in memory at a full host. */
const MAX_FRESH = 2;
/** Destinations that do so. More of them would fill the memory of the process. */
const MAX_LINES = 256;
const IDLE_MS = 60_000;
/** The rest of the rate may be saved up: enough for the timers' grain, too little for a burst. */
const STEADY = 0.9;
const LONGEST_TURN_MS = 10_000;
const RECENT_MS = 1_000;
const NO_HOSTS: Taken = [];

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openHostTurns({ cap, peers, uptimeMs }: HostTurnsNeeds): HostTurns {
  const hosts = new Map<string, Host>();
  const full = new Set<Host>();
  const counted = new WeakMap<Webhook, ReadonlyMap<string, number>>();
  const hasCap = cap?.attempts !== undefined || cap?.perSecond !== undefined;
  /** The places of lines that have had their turn at some of their hosts and wait at another one. */
  const kept = new Map<Line, Map<Host, number>>();
  let turns = 0;
  let granted: { line: Line; host: Host } | undefined;

  function find(name: string): Host {
    const known = hosts.get(name);
    if (known !== undefined) return known;
    const recent = { since: uptimeMs(), posts: 0, before: 0 };
    const budget = newTokenBucket(1, uptimeMs());
    const host = { name, inFlight: 0, budget, waiting: new Map(), servedAt: new Map(), usedAt: uptimeMs(), recent };
    hosts.set(name, host);
    return host;
  }

  /** POSTs of the next attempt at each host: those of settled targets are not repeated. */
  function postsOf({ delivery, webhook }: PendingAttempt): ReadonlyMap<string, number> {
    if (delivery.settled !== undefined) {
      return countHosts(webhook.targets.filter(({ url }) => delivery.settled?.[url] === undefined));
    }
    const known = counted.get(webhook) ?? countHosts(webhook.targets);
    counted.set(webhook, known);
    return known;
  }

  /** An attempt with more POSTs than the cap goes alone; its rate is a debt that later ones wait for. */
  function hasRoom(host: Host, posts: number): boolean {
    const { attempts = Infinity, perSecond } = cap ?? {};
    const most = Math.max(1, Math.floor(attempts / peers()));
    if (host.inFlight > 0 && host.inFlight + posts > most) return false;
    if (perSecond === undefined) return true;
    const share = perSecond / peers();
    // Saved tokens come on top within a second, so the steady rate is lower by as much.
    return refill(host.budget, uptimeMs(), share * STEADY, Math.max(1, share * (1 - STEADY))) >= 1;
  }

  function wait(host: Host, workspaceId: string, line: Line, posts: number): void {
    const lines = host.waiting.get(workspaceId) ?? new Map<Line, number>();
    host.waiting.set(workspaceId, lines.set(line, posts));
    full.add(host);
    line.waitsSince ??= uptimeMs();
  }

  /** Of the workspace that was served longest ago, or never, the line that has waited longest; undefined when it has no room. */
  function takeFirst(host: Host): Line | undefined {
    const { waiting, servedAt } = host;
    const turnOf = (workspaceId: string) => servedAt.get(workspaceId) ?? 0;
    const first = waiting.keys().reduce((one, other) => (turnOf(other) < turnOf(one) ? other : one));
    const [[line, posts] = []] = waiting.get(first) ?? [];
    if (line === undefined || posts === undefined || !hasRoom(host, posts)) return undefined;
    waiting.get(first)?.delete(line);
    if (waiting.get(first)?.size === 0) waiting.delete(first);
    if (waiting.size === 0) full.delete(host);
    return line;
  }

  function count(host: Host, workspaceId: string, posts: number): void {
    host.inFlight += posts;
    host.budget.tokens -= posts;
    host.usedAt = uptimeMs();
    host.servedAt.set(workspaceId, (turns += 1));
    turnRecent(host.recent, uptimeMs());
    host.recent.posts += posts;
  }

  function keep(line: Line, workspaceId: string, places: Taken): void {
    if (places.length === 0) return;
    const own = kept.get(line) ?? new Map<Host, number>();
    kept.set(line, own);
    for (const [host, posts] of places) {
      count(host, workspaceId, posts);
      own.set(host, posts);
    }
  }

  function giveBack(line: Line): void {
    for (const [host, posts] of kept.get(line) ?? []) {
      host.inFlight -= posts;
      host.budget.tokens += posts;
    }
    kept.delete(line);
  }

  /** The targets may have changed since the line took its first turns. */
  function keptFor(line: Line, wanted: ReadonlyMap<string, number>): ReadonlyMap<Host, number> | undefined {
    const own = kept.get(line);
    if (own === undefined || own.entries().every(([{ name }, posts]) => wanted.get(name) === posts)) return own;
    giveBack(line);
    return undefined;
  }

  function fullHosts(webhook: Webhook): Host[] {
    if (full.size === 0) return [];
    return [...(counted.get(webhook) ?? countHosts(webhook.targets)).keys()]
      .map((name) => hosts.get(name))
      .filter((host) => host !== undefined && full.has(host)) as Host[];
  }

  return {
    admits(line, pending) {
      if (!hasCap) return true;
      const wanted = postsOf(pending);
      const own = keptFor(line, wanted);
      const places: [Host, number][] = [];
      for (const [name, posts] of wanted) {
        const host = find(name);
        if (own?.has(host) === true) continue;
        const isTurnOfOthers = full.has(host) && !(granted?.line === line && granted.host === host);
        if (isTurnOfOthers || !hasRoom(host, posts)) {
          keep(line, pending.webhook.workspaceId, places);
          wait(host, pending.webhook.workspaceId, line, posts);
          return false;
        }
        places.push([host, posts]);
      }
      return true;
    },
    take(line, pending) {
      line.waitsSince = undefined;
      if (!hasCap) return NO_HOSTS;
      const own = kept.get(line);
      kept.delete(line);
      return [...postsOf(pending)].map(([name, posts]) => {
        const host = find(name);
        if (own?.has(host) !== true) count(host, pending.webhook.workspaceId, posts);
        return [host, posts] as const;
      });
    },
    release(taken) {
      for (const [host, posts] of taken) host.inFlight -= posts;
    },
    next() {
      granted = undefined;
      for (const host of full) {
        const line = takeFirst(host);
        if (line === undefined) continue;
        granted = { line, host };
        return line;
      }
      return undefined;
    },
    withdraw(line) {
      giveBack(line);
      line.waitsSince = undefined;
    },
    isCrowded: (line, webhook) =>
      fullHosts(webhook).some(
        (host) => postsFor(line.fresh.length, webhook) >= MAX_FRESH || waitingAt(host) >= MAX_LINES,
      ),
    turnInMs(webhook) {
      const waits = fullHosts(webhook).map((host) => {
        turnRecent(host.recent, uptimeMs());
        return (waitingAt(host) * RECENT_MS) / Math.max(1, host.recent.before);
      });
      return Math.min(LONGEST_TURN_MS, Math.max(0, ...waits));
    },
    atCap: () => full.size,
    forgetIdle() {
      for (const [name, host] of hosts) {
        if (host.inFlight === 0 && !full.has(host) && host.usedAt < uptimeMs() - IDLE_MS) hosts.delete(name);
      }
    },
  };
}

/** In the order of their names, so that lines take their turns in the same order. */
function countHosts(targets: Webhook['targets']): ReadonlyMap<string, number> {
  const posts = new Map<string, number>();
  for (const { url } of targets) {
    const host = hostOf(url);
    if (host !== undefined) posts.set(host, (posts.get(host) ?? 0) + 1);
  }
  return posts.size < 2 ? posts : new Map([...posts].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function waitingAt({ waiting }: Host): number {
  return waiting.values().reduce((sum, lines) => sum + lines.size, 0);
}

function turnRecent(recent: Host['recent'], now: number): void {
  const passed = now - recent.since;
  if (passed < RECENT_MS) return;
  recent.before = passed < RECENT_MS * 2 ? recent.posts : 0;
  recent.posts = 0;
  recent.since = now;
}
