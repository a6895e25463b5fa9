import type { AcceptedEvent, JsonObject } from '@millrace/contract';
import type { Definition } from '@millrace/contract/audiences';
import { compilePlan, type DefinitionInPlan } from '../../src/compute/fold/compile-plan.ts';
import { readBatch } from '../../src/compute/fold/fold-batch.ts';
import type { SourceEvent } from '../../src/compute/fold/incoming-event.ts';
import { assignSlots, type StoredMeasure } from '../../src/compute/fold/measure-need.ts';
import type { Plan } from '../../src/compute/fold/plan.ts';
import { profileKey } from '../../src/compute/profiles/profile-key.ts';
import type { StoredProfile } from '../../src/compute/profiles/profile-store.ts';
import { type MemoryProfiles, openMemoryProfiles } from './memory-profiles.ts';

export const AT = Date.UTC(2026, 10, 16, 12);
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Definitions numbered from 1, with the ids `d1`, `d2` and so on. */
export function definitionsInPlan(definitions: readonly Definition[]): DefinitionInPlan[] {
  const inUse: StoredMeasure[] = [];
  return definitions.map((definition, at) => {
    const measures = assignSlots(definition, inUse, 1 + Math.max(0, ...inUse.map(({ slot }) => slot)));
    inUse.push(...measures);
    return {
      number: at + 1,
      id: `d${at + 1}`,
      definition,
      version: 1,
      changed: 1,
      measures,
      use: 'evaluated' as const,
    };
  });
}

export function planOf(...definitions: Definition[]): Plan {
  return compilePlan(definitionsInPlan(definitions), 1);
}

let made = 0;

/** A track event of user u1 that was received at AT, but for what is given. */
export function eventOf(fields: JsonObject & { at?: number; receivedAt?: number; source?: string } = {}): SourceEvent {
  const { at = AT, receivedAt = Math.max(at, AT), source = 'src_1', ...others } = fields;
  const event: unknown = {
    messageId: `m${(made += 1)}`,
    type: 'track',
    event: 'E',
    ...('userId' in others || 'anonymousId' in others ? {} : { userId: 'u1' }),
    context: {},
    ...others,
    timestamp: new Date(at).toISOString(),
    receivedAt: new Date(receivedAt).toISOString(),
  };
  return { workspaceId: 'ws_1', sourceId: source, event: event as AcceptedEvent };
}

export function foldedInto(memory: MemoryProfiles, plan: Plan, events: readonly SourceEvent[]): MemoryProfiles {
  memory.fold(readBatch(events, () => plan));
  return memory;
}

export function folded(plan: Plan, ...events: SourceEvent[]): MemoryProfiles {
  return foldedInto(openMemoryProfiles(), plan, events);
}

export function userOf(memory: MemoryProfiles, userId = 'u1'): StoredProfile {
  const profile = memory.profiles.get(profileKey('ws_1', 'user', userId));
  if (profile === undefined) throw new Error(`there is no profile of ${userId}`);
  return profile;
}

/** The values of a user's definitions, by number. */
export function valuesOf(memory: MemoryProfiles, userId = 'u1'): Record<string, unknown> {
  const key = profileKey('ws_1', 'user', userId);
  const own = [...memory.values()].filter(([name]) => name.startsWith(`${key} `));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(key.length + 1), value]));
}
