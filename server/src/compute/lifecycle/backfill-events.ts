/**
 * Gives the new measures of a version their past from the events that are still stored, in passes: each reads all of them, keeps as many
 * as fit into memory, and folds them. A pass is cut by the key of the id that an event came with (its userId, else its anonymousId),
 * and not by profile: profiles merge meanwhile, and an event that comes with one id is in one pass whatever becomes of that id. It is
 * folded into the profile that the id stands for then. Repeats of an event come with the same id, so they meet in one pass.
 *
 * The backfill leaves out anonymous events of a device that two users have shared since then: no link tells their user any more.
 */
import { foldingStarts } from '../../store/definitions/definition-changes.ts';
import { markPhase } from '../../store/definitions/life-jobs.ts';
import { countProfiles } from '../../store/compute/sizes.ts';
import { addParts, foldPast, isCountedBy } from '../fold/backfill.ts';
import type { Plan } from '../fold/plan.ts';
import { idsOf, ownerKeyOf } from '../fold/resolve-identity.ts';
import type { ProfileKey } from '../profiles/profile-key.ts';
import type { FoldTx, StoredProfile, VersionName } from '../profiles/profile-store.ts';
import { keyShare } from './key-share.ts';
import { areNew } from '../profiles/withheld-marks.ts';
import {
  type BusyId,
  foldBusy,
  isCounted,
  isStale,
  type KeptEvent,
  makeRoom,
  newPass,
  type PassEvents,
} from './backfill-pass.ts';
import { type JobNeeds, JobEnded, JobWaiting } from './life-needs.ts';
import { readPast } from './read-past.ts';

export type EventsOf = VersionName & {
  workspaceId: string;
  after: ProfileKey | undefined;
  slots: ReadonlySet<number>;
};

export async function backfillEvents(of: EventsOf, needs: JobNeeds): Promise<void> {
  const total = await needs.store.asSystem((tx) => countProfiles(tx, of.workspaceId));
  for (let after = of.after; ; ) {
    const pass = await readPass({ ...of, after }, needs);
    await foldPass(of, pass, total, needs);
    if (pass.through === undefined) return;
    after = pass.through;
  }
}

async function readPass({ workspaceId, after, slots, ...name }: EventsOf, needs: JobNeeds): Promise<PassEvents> {
  // The plans know the version from here on: a process that has just taken over may have read none.
  const starts = await needs.step((_, sql) => foldingStarts(sql, name.definition, name.version));
  const pass = newPass();
  for await (const { requests, missingUntil } of readPast({ workspaceId, starts }, needs)) {
    pass.missingUntil = latest(pass.missingUntil, missingUntil);
    const plan = planFor(workspaceId, needs);
    for (const { sourceId, events } of requests) {
      for (const event of events) {
        const { user, anonymous } = idsOf(event, workspaceId);
        const own = (user ?? anonymous)?.key;
        if (own === undefined || (after !== undefined && own <= after)) continue;
        if (pass.through !== undefined && own > pass.through) continue;
        const each = { workspaceId, sourceId, event };
        if (isCountedBy(each, plan, slots)) pass.events.push({ ...each, own });
      }
    }
    if (makeRoom(pass, needs.portions.pass)) await foldAhead(pass, () => true, { workspaceId, slots }, needs);
  }
  const { busy } = pass;
  if (busy !== undefined) await foldAhead(pass, ({ own }) => own === busy.own, { workspaceId, slots }, needs);
  pass.events.sort((one, other) => (one.own < other.own ? -1 : Number(one.own > other.own)));
  return pass;
}

type Counting = Pick<EventsOf, 'workspaceId' | 'slots'>;

/** Folds events of the busy id, and lets go of them. */
async function foldAhead(
  pass: PassEvents,
  isOfBusy: (event: KeptEvent) => boolean,
  { workspaceId, slots }: Counting,
  needs: JobNeeds,
): Promise<void> {
  const events = pass.events.filter(isOfBusy);
  pass.events = pass.events.filter((event) => !isOfBusy(event));
  await needs.users.refresh([workspaceId]);
  const marks = needs.users.marksOf(workspaceId);
  for (let at = 0; at < events.length; at += needs.portions.events) {
    const plan = planFor(workspaceId, needs);
    foldBusy(pass, events.slice(at, at + needs.portions.events), { plan, slots, marks });
    await needs.turn();
  }
}

function planFor(workspaceId: string, { plans }: JobNeeds): Plan {
  const plan = plans.planOf(workspaceId);
  if (plan === undefined) throw new JobEnded('the workspace has no definitions any more');
  return plan;
}

function latest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || (other !== undefined && other > one) ? other : one;
}

async function foldPass(of: EventsOf, pass: PassEvents, total: number, needs: JobNeeds): Promise<void> {
  const { busy, missingUntil } = pass;
  const ofKeys = new Map<ProfileKey, readonly KeptEvent[]>(Map.groupBy(pass.events, ({ own }) => own));
  if (busy !== undefined) ofKeys.set(busy.own, []);
  const byKey = [...ofKeys].toSorted(([one], [other]) => (one < other ? -1 : 1));
  for (let at = 0; at < byKey.length; ) {
    let size = 0;
    const begin = at;
    while (at < byKey.length && (at === begin || size < needs.portions.events)) size += byKey[at++]?.[1].length ?? 0;
    await foldPortion(of, { byKey: new Map(byKey.slice(begin, at)), busy, missingUntil, total }, needs);
    await needs.turn();
  }
  await foldPortion(of, { byKey: new Map(), busy, missingUntil, total, through: pass.through }, needs);
}

type Portion = {
  byKey: ReadonlyMap<ProfileKey, readonly KeptEvent[]>;
  busy: BusyId | undefined;
  missingUntil: number | undefined;
  total: number;
  through?: ProfileKey | undefined;
};

async function foldPortion(
  of: EventsOf,
  { byKey, busy, missingUntil, total, through }: Portion,
  needs: JobNeeds,
): Promise<void> {
  const { workspaceId, slots, definition, version } = of;
  const afterKey = through ?? [...byKey.keys()].at(-1);
  const done = afterKey === undefined ? total : Math.round(total * keyShare(afterKey));
  const fold = (): Promise<'done' | 'again'> =>
    needs.step(async (tx, sql) => {
      if ((await foldKeys(tx, { workspaceId, slots, byKey, busy }, needs)) === 'again') return 'again';
      const mark = { phase: 'events', afterKey, eventsFrom: missingUntil, done, total } as const;
      const isWanted = await markPhase(sql, { definition, version }, mark);
      if (!isWanted) throw new JobEnded('the version is not backfilled any more');
      return 'done';
    });
  do await needs.users.refresh([workspaceId]);
  while ((await fold()) === 'again');
}

type KeysToFold = Counting & Pick<Portion, 'byKey' | 'busy'>;

/** `again`, and without an effect, when a user was erased since the marks were read. */
async function foldKeys(
  tx: FoldTx,
  { workspaceId, slots, byKey, busy }: KeysToFold,
  needs: JobNeeds,
): Promise<'done' | 'again'> {
  if (byKey.size === 0) return 'done';
  const { users } = needs;
  const plan = planFor(workspaceId, needs);
  const owners = (links: ReadonlyMap<ProfileKey, string>) =>
    [...byKey.keys()].flatMap((own) => ownerKeyOf(own, links) ?? []);
  const marks = users.marksOf(workspaceId);
  const { links, profiles } = await tx.load(byKey.keys(), owners);
  if (!(await areNew([marks], tx, users))) return 'again';
  const changed = new Map<ProfileKey, StoredProfile>();
  for (const [own, events] of byKey) {
    const owner = ownerKeyOf(own, links);
    const profile = owner === undefined ? undefined : (changed.get(owner) ?? profiles.get(owner));
    // Erased since then.
    if (profile === undefined) continue;
    const isBusy = busy?.own === own;
    if (isBusy && isStale(busy, marks)) throw new JobWaiting('an id was erased while its events were folded');
    const counted = events.filter((each) => isCounted(each, marks));
    changed.set(profile.key, isBusy ? addParts(profile, busy.past, plan) : foldPast(profile, counted, plan, slots));
  }
  await tx.write({ profiles: [...changed.values()], links: [], transitions: [] });
  return 'done';
}
