/**
 * The tables of the profile store in memory, for tests of the pure fold: the engine's part is tested with PostgreSQL itself. It checks each
 * batch of changes as it comes: sequences without gaps, previous values, profiles that were named before they are written.
 */
import assert from 'node:assert/strict';
import type { EventBatch, PlanOf } from '../../src/compute/fold/fold-batch.ts';
import { evaluateChanged, runTimers } from '../../src/compute/fold/advance-profiles.ts';
import type { ProfileKey } from '../../src/compute/profiles/profile-key.ts';
import type {
  ComputedValue,
  LinkTarget,
  ProfileChanges,
  StoredProfile,
  Transition,
} from '../../src/compute/profiles/profile-store.ts';

export type MemoryProfiles = {
  readonly profiles: Map<ProfileKey, StoredProfile>;
  readonly links: Map<ProfileKey, LinkTarget>;
  readonly transitions: Transition[];
  fold(batch: EventBatch): void;
  /** Runs the timers that are due. */
  runTimers(planOf: PlanOf, upTo: number): void;
  scan(planOf: PlanOf, now: number): void;
  /** A definition is deleted. */
  forget(definition: number): void;
  values(): Map<string, ComputedValue>;
};

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openMemoryProfiles(): MemoryProfiles {
  const profiles = new Map<ProfileKey, StoredProfile>();
  const links = new Map<ProfileKey, LinkTarget>();
  const transitions: Transition[] = [];
  const held = new Map<string, { sequence: number; value: ComputedValue }>();

  function checkTransition({ definition, key, sequence, previous, value }: Transition): void {
    const before = held.get(`${key} ${definition}`);
    assert.equal(sequence, (before?.sequence ?? 0) + 1, 'sequences have no gaps');
    if (before !== undefined) assert.deepEqual(previous, before.value);
    else assert.ok(previous === false || previous === null);
    assert.notDeepEqual(value, previous);
    held.set(`${key} ${definition}`, { sequence, value });
  }

  function write(changes: ProfileChanges, named: ReadonlySet<ProfileKey>): void {
    for (const transition of changes.transitions) {
      checkTransition(transition);
      transitions.push(transition);
    }
    for (const profile of changes.profiles) {
      assert.ok(named.has(profile.key) && !links.has(profile.key), 'a profile is chosen before it is written');
      profiles.set(profile.key, { ...profile, state: Buffer.from(profile.state) });
    }
    for (const { from, to, left } of changes.links) {
      assert.ok(named.has(from), 'a linked id is chosen before');
      assert.ok(!changes.profiles.some(({ key }) => key === from), 'an id is written as a link or as a profile');
      const members = [...held].filter(
        ([name, { value }]) => name.startsWith(`${from} `) && value !== false && value !== null,
      );
      assert.deepEqual(
        left.toSorted((a, b) => a - b),
        members.map(([name]) => Number(name.split(' ')[1])).toSorted((a, b) => a - b),
        'a merged profile leaves the definitions that held it',
      );
      for (const name of held.keys()) if (name.startsWith(`${from} `)) held.delete(name);
      profiles.delete(from);
      links.set(from, to);
    }
  }

  return {
    profiles,
    links,
    transitions,
    fold(batch) {
      const chosen = batch.choose(links);
      const loaded = new Map([...profiles].filter(([key]) => chosen.has(key)));
      write(batch.fold({ links, profiles: loaded }), chosen);
    },
    runTimers(planOf, upTo) {
      const due = [...profiles.values()].filter(({ dueAt }) => dueAt !== undefined && dueAt <= upTo);
      write(runTimers(due, planOf, upTo), new Set(due.map(({ key }) => key)));
    },
    scan(planOf, now) {
      write(evaluateChanged([...profiles.values()], planOf, { now, isFirstSync: true }), new Set(profiles.keys()));
    },
    forget(definition) {
      for (const name of held.keys()) if (name.endsWith(` ${definition}`)) held.delete(name);
    },
    values() {
      const having = [...held].filter(([, { value }]) => value !== false && value !== null);
      return new Map(having.map(([name, { value }]) => [name, value]));
    },
  };
}
