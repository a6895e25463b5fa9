/**
 * Readers, relay and lifecycle over a real PostgreSQL, each taking its steps when dice say so, in the middle of the steps of the others.
 * A step of the lifecycle dies before or after its commit; the next one is of another process, which knows nothing.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { openFolding } from '../../src/compute/fold-requests.ts';
import { openKnownPlans } from '../../src/compute/known-plans.ts';
import { openKnownSources } from '../../src/compute/known-sources.ts';
import { type JobNeeds, JobEnded, JobWaiting, type Portions } from '../../src/compute/lifecycle/life-needs.ts';
import { runJob } from '../../src/compute/lifecycle/start-lifecycle.ts';
import { type HeldPosition, LostPosition, type Position } from '../../src/compute/profiles/profile-store.ts';
import { openWithheldUsers } from '../../src/compute/withheld-users.ts';
import { openLog } from '../../src/log.ts';
import { openMetrics } from '../../src/metrics/open-metrics.ts';
import { type LifeJob, listJobs } from '../../src/store/definitions/life-jobs.ts';
import { openProfileStore } from '../../src/store/compute/open-profile-store.ts';
import type { Dice } from './dice.ts';
import { type LifeBed, STREAMS } from './life-bed.ts';

const SMALL: Portions = { read: 7, written: 3, pass: 30, events: 6, rows: 5 };

class Killed extends Error {}

export type SteppedNeeds = {
  bed: LifeBed;
  dice: Dice;
  kills: number /** Happens now and then, at any moment. */;
  meanwhile(): Promise<void>;
};

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export async function openSteppedLives({ bed, dice, kills, meanwhile }: SteppedNeeds) {
  const { store, streams } = bed;
  const side = streams.side(1);
  const profiles = openProfileStore(store);
  const readers = await Promise.all(STREAMS.map((stream) => openSteppedReader(stream, bed)));
  const relay = await profiles.takeOver('relay', 'test');
  const clockOf = () => Math.min(...readers.map(({ clock }) => clock()));
  let isActing = false;

  async function act(): Promise<void> {
    // A step may be taken in the middle of another one of the lifecycle, but not of itself.
    if (isActing) return breathe();
    isActing = true;
    try {
      for (const reader of dice.shuffle(readers)) {
        if (dice.isWithin(0.5)) await reader.read(dice.whole(1, 6));
        if (dice.isWithin(0.2)) await reader.runTimers(clockOf());
      }
      if (dice.isWithin(0.3)) await send();
      if (dice.isWithin(0.2)) await meanwhile();
    } finally {
      isActing = false;
    }
  }

  async function send(): Promise<boolean> {
    const batch = await profiles.claimBatch(relay, { now: streams.now(), most: 5, mostOfFirstSyncs: 5 });
    if (batch === undefined) return false;
    bed.hear(batch.transitions);
    await profiles.deleteBatch(relay, batch.batch);
    return true;
  }

  async function openProcess(): Promise<JobNeeds> {
    const held = await profiles.takeOver('lifecycle', `test-${dice.next()}`);
    const { plans, folding, sources, users } = partsOf(bed);
    const die = (share: number) => {
      if (dice.isWithin(share)) throw new Killed();
    };
    return {
      store,
      profiles,
      side,
      plans,
      folding,
      sources,
      users,
      portions: SMALL,
      watermark: { now: clockOf },
      log: openLog({ level: 'fatal', pretty: false }),
      changed: () => undefined,
      changedDefinitions: () => undefined,
      async step(work) {
        die(kills);
        const done = await profiles.foldWith(held, async (tx, sql) => {
          await plans.refresh(tx);
          return work(tx, sql);
        });
        die(kills);
        if (dice.isWithin(0.3)) await act();
        return done;
      },
      turn: () => (dice.isWithin(0.3) ? act() : breathe()),
    };
  }

  /** Works until there is nothing to do. */
  async function runAll(): Promise<void> {
    let process = await openProcess();
    for (;;) {
      const jobs: LifeJob[] = await store.asSystem(listJobs);
      if (jobs.length === 0) return;
      try {
        await runJob(dice.pick(jobs), process);
      } catch (error) {
        const isExpected = error instanceof Killed || error instanceof JobEnded || error instanceof JobWaiting;
        if (!isExpected && !(error instanceof LostPosition)) throw error;
        if (error instanceof Killed) process = await openProcess();
        while (await send());
      }
    }
  }

  async function readAll(): Promise<void> {
    for (const reader of readers) while (await reader.read(50));
    for (const reader of readers) while (await reader.runTimers(clockOf()));
    while (await send());
  }

  return { runAll, readAll };
}

function partsOf(bed: LifeBed) {
  const plans = openKnownPlans();
  const sources = openKnownSources(bed.store, (workspaceId) => plans.planOf(workspaceId) !== undefined);
  const users = openWithheldUsers(bed.store);
  return { plans, sources, users, folding: openFolding({ plans, sources, users, metrics: openMetrics() }) };
}

/** As the reader of a stream does it, a batch at a time. */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
async function openSteppedReader(stream: string, bed: LifeBed) {
  const { streams } = bed;
  const profiles = openProfileStore(bed.store);
  const held: HeldPosition = await profiles.takeOver(stream, 'test');
  const { plans, folding, sources } = partsOf(bed);
  const place = (await streams.side(1).findPlace(stream, undefined))?.place ?? {
    createdAt: 0,
    sequence: 0,
    storedAt: 0,
  };
  let position: Position = held.position ?? { ...place, clock: 0, left: [] };
  let started = -1;

  async function commit<T>(work: Parameters<typeof profiles.fold<T>>[1]): Promise<T | 'again'> {
    return profiles.fold(held, async (tx) => {
      await plans.refresh(tx);
      const version = plans.version();
      if (version === started) return work(tx);
      const { sequence, ...at } = position;
      await tx.startFolding({ version, place: { ...at, sequence: sequence + 1 }, ...plans.unfinished() });
      await tx.moveTo(position);
      started = version;
      return 'again';
    });
  }

  return {
    clock: () => position.clock,
    /** False when there is nothing to read. */
    async read(most: number): Promise<boolean> {
      const batch = streams.read(stream, position, most);
      const isEnd = batch.length === 0;
      const last = batch.at(-1);
      const next = {
        ...position,
        sequence: last?.sequence ?? position.sequence,
        storedAt: last?.storedAt ?? position.storedAt,
        clock: Math.max(position.clock, (isEnd ? streams.now() : (last?.storedAt ?? 0)) - 5_000),
      };
      await sources.learn(batch.map(({ sourceId }) => sourceId));
      const wanted = batch.filter(({ sourceId }) => sources.isWanted(sourceId));
      await folding.prepare(wanted);
      const done = await commit(async (tx) => {
        if (wanted.length > 0) await folding.foldRequests(tx, wanted);
        await tx.moveTo(next);
        return 'done';
      });
      if (done !== 'again') position = next;
      return !isEnd || done === 'again';
    },
    async runTimers(upTo: number): Promise<boolean> {
      const ran = await commit((tx) => folding.runTimers(tx, upTo, 3));
      return ran === 'again' || ran.due > 0;
    },
  };
}
