/**
 * The stored events that a pass of the backfill holds: those of the lowest keys, as many as fit. The events of one id belong to one pass. Of
 * an id that has more than fit, the pass holds what they amount to: there is one such id at most, because any other key goes first.
 */
import { foldPart, noPast, type PastParts } from '../fold/backfill.ts';
import type { SourceEvent } from '../fold/incoming-event.ts';
import type { Plan } from '../fold/plan.ts';
import type { ProfileKey } from '../profiles/profile-key.ts';
import type { Marks } from '../profiles/withheld-marks.ts';

export type KeptEvent = SourceEvent & { own: ProfileKey };
/** `first`: the earliest event of each source that is in it. When one of these is withheld, the id was erased meanwhile. */
export type BusyId = { own: ProfileKey; past: PastParts; first: Map<string, KeptEvent> };
/** `through`: the last key of the pass; undefined when there are no more. */
export type PassEvents = {
  events: KeptEvent[];
  busy: BusyId | undefined;
  through: ProfileKey | undefined;
  missingUntil: number | undefined;
};

export function newPass(): PassEvents {
  return { events: [], busy: undefined, through: undefined, missingUntil: undefined };
}

/** Leaves the upper half of the keys to the next pass, until the rest fits or has one key. True when the rest does not fit. */
export function makeRoom(pass: PassEvents, most: number): boolean {
  while (pass.events.length > most) {
    const keys = [...new Set([...pass.events, ...(pass.busy ? [pass.busy] : [])].map(({ own }) => own))].sort();
    if (keys.length < 2) return true;
    const through = keys[Math.floor((keys.length - 1) / 2)] ?? '';
    pass.through = through;
    pass.events = pass.events.filter(({ own }) => own <= through);
    if (pass.busy !== undefined && pass.busy.own > through) pass.busy = undefined;
  }
  return false;
}

type ToFold = { plan: Plan; slots: ReadonlySet<number>; marks: Marks | undefined };

/** Folds events of the busy id. */
export function foldBusy(pass: PassEvents, events: readonly KeptEvent[], { plan, slots, marks }: ToFold): void {
  const counted = events.filter((each) => isCounted(each, marks));
  const [one] = counted;
  if (one === undefined) return;
  pass.busy ??= { own: one.own, past: noPast(), first: new Map() };
  const { past, first } = pass.busy;
  for (const each of counted) {
    const { sourceId, event } = each;
    if (event.receivedAt < (first.get(sourceId)?.event.receivedAt ?? '~')) first.set(sourceId, each);
  }
  foldPart(past, counted, plan, slots);
}

/** Whether the id was erased after some of its events were folded. */
export function isStale({ first }: BusyId, marks: Marks | undefined): boolean {
  return [...first.values()].some((each) => !isCounted(each, marks));
}

export function isCounted({ sourceId, event }: SourceEvent, marks: Marks | undefined): boolean {
  return marks?.isWithheld(sourceId, event) === false;
}
