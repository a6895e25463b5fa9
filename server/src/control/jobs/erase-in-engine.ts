import type { AcceptedEvent, DeleteEvent } from '@millrace/contract';
import { readableDeliveries, readLetter } from '../../domain/read-deliveries.ts';
import { anonymousName, withheld } from '../../domain/withheld.ts';
import type { ControlSide } from '../../stream/open-control-side.ts';
import type { DeletionPlan } from './deletion-plan.ts';

export type EraseNeeds = { side: ControlSide; now(): Date };

const READ_AT_ONCE = 200;
const GROUPS_AT_ONCE = 32;

type Is = (event: AcceptedEvent | DeleteEvent) => boolean;

function isOfUsers({ userIds = [], anonymousIds = [], erasedBefore }: DeletionPlan): Is {
  const names = new Set([...userIds, ...anonymousIds.map(anonymousName)]);
  const mark = { erasedBefore: Date.parse(erasedBefore), isSuppressed: false };
  return (event) => withheld(event, (name) => (names.has(name) ? mark : undefined)) !== undefined;
}

/** Overwriting takes time, and a step must end within its lease. */
const ERASED_AT_ONCE = 500;

/** Erases some of their dead letters; returns how many, 0 when none are left. */
export async function eraseLetters(plan: DeletionPlan, { side }: EraseNeeds): Promise<number> {
  const isErased = isOfUsers(plan);
  let erased = 0;
  for (const { destinationId } of plan.destinations) {
    for (let from = 1; ; ) {
      const letters = await side.deadLetters.read(destinationId, from, READ_AT_ONCE);
      for (const { sequence, text, format } of letters) {
        from = sequence + 1;
        const letter = readLetter(text, format);
        if (!letter.ok || !isErased(letter.value.delivery.event)) continue;
        await side.deadLetters.erase(sequence);
        erased += 1;
        if (erased === ERASED_AT_ONCE) return erased;
      }
      if (letters.length === 0) break;
    }
  }
  return erased;
}

/** Counts their deliveries in lanes, and makes each such lane urgent: the process that drains it removes them. */
export async function findInLanes(plan: DeletionPlan, { side, now }: EraseNeeds): Promise<number> {
  const isErased = isOfUsers(plan);
  let found = 0;
  for (const cell of side.each?.() ?? [side]) {
    for (const { destinationId } of plan.destinations) {
      const inLane = await countInLane(destinationId, isErased, cell);
      found += inLane;
      if (inLane > 0) await cell.tickets.ensure(destinationId, { dueAt: now().getTime(), hurry: true });
    }
  }
  return found;
}

async function countInLane(destinationId: string, isErased: Is, { lanes }: ControlSide): Promise<number> {
  let found = 0;
  for (const tier of (await lanes.count(destinationId)).keys()) {
    for (let from = 1; ; ) {
      const groups = await lanes.read({ destinationId, tier }, from, GROUPS_AT_ONCE);
      for (const { sequence, payload, format } of groups) {
        from = sequence + 1;
        found += readableDeliveries(payload, format).filter(({ event }) => isErased(event)).length;
      }
      if (groups.length === 0) break;
    }
  }
  return found;
}
