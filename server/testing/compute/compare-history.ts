/** Holds what was folded against the oracle: values, transitions with everything about them, and the facts of each profile. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { keptTrait } from '@millrace/contract/audiences';
import { eventName } from '../../src/domain/event-name.ts';
import { type IdKind, profileKey } from '../../src/compute/profiles/profile-key.ts';
import type { ComputedValue, StoredProfile, Transition } from '../../src/compute/profiles/profile-store.ts';
import { decodeState, groupsOf, type ProfileState, traitsOf } from '../../src/compute/state/profile-state.ts';
import { hoursOf, TILE_MS } from '../../src/compute/state/tiles.ts';
import type { MemoryProfiles } from './memory-profiles.ts';
import type { Oracle, OracleProfile, OracleTransition } from './oracle.ts';
import { inOrder } from './oracle-values.ts';

const HOUR_MS = 3_600_000;
const SECOND_MS = 1_000;
const KINDS: readonly IdKind[] = ['user', 'anonymous'];
const IDS = ['u1', 'u2', 'u3', 'a1', 'a2', 'a3', 'a4'];

/** The part of the memory that belongs to a workspace. `hasTransitions`: they are compared too. */
export function compareHistory(
  memory: MemoryProfiles,
  { workspaceId, oracle }: { workspaceId: string; oracle: Oracle },
  hasTransitions: boolean,
): void {
  const names = new Map(
    IDS.flatMap((id) => KINDS.map((kind) => [profileKey(workspaceId, kind, id), `${kind} ${id}`] as const)),
  );
  assert.deepEqual(named(memory.values(), names), oracle.values(), 'every value is the one of the oracle');
  if (hasTransitions) compareTransitions(memory.transitions, oracle.transitions, names);
  const own = [...memory.profiles.values()].filter((profile) => profile.workspaceId === workspaceId);
  assert.deepEqual(new Set(own.map(({ key }) => names.get(key))), new Set(oracle.profiles.keys()));
  for (const profile of own) compareFacts(profile, oracle.profiles.get(names.get(profile.key) ?? ''));
}

type Names = ReadonlyMap<string, string>;

function named(values: ReadonlyMap<string, ComputedValue>, names: Names): Map<string, ComputedValue> {
  const entries = [...values].flatMap(([text, value]) => {
    const [key = '', definition] = text.split(' ');
    const name = names.get(key);
    return name === undefined ? [] : [[`${name} ${definition}`, value] as const];
  });
  return new Map(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function compareTransitions(folded: readonly Transition[], told: readonly OracleTransition[], names: Names): void {
  const lines = new Map(folded.flatMap((each) => (names.has(each.key) ? [[line(each, names), each] as const] : [])));
  const expected = new Map(told.map((each) => [line(each), each]));
  assert.deepEqual([...lines.keys()].toSorted(), [...expected.keys()].toSorted(), 'every transition is the oracle’s');
  for (const [text, { cause, messageId }] of lines) {
    const other = expected.get(text);
    assert.ok(other?.causes.includes(cause), `the cause of ${text} is ${cause} and not of ${other?.causes.join()}`);
    assert.equal(messageId, cause === 'event' ? other?.messageId : undefined, `the event that led to ${text}`);
  }
}

function line(each: Transition | OracleTransition, names?: Names): string {
  const { definition, sequence, value, at, sendAt } = each;
  const name = 'profile' in each ? each.profile : names?.get(each.key);
  return JSON.stringify([name, definition, sequence, new Date(at).toISOString(), value, sendAt ?? null]);
}

function compareFacts({ key, state: bytes }: StoredProfile, expected: OracleProfile | undefined): void {
  assert.ok(expected !== undefined);
  const state = decodeState(bytes);
  assert.deepEqual(groupsOf(state), expected.groups, `the groups of ${key}`);
  const traits = [...traitsOf(state)].map(([name, { value }]) => [name, value] as const);
  assert.deepEqual(new Map(traits), expectedTraits(expected), `the traits of ${key}`);
  assert.deepEqual(tilesOf(state), expectedTiles(expected, state.evaluatedAt), `the tiles of ${key}`);
}

function expectedTraits({ events }: OracleProfile): Map<string, unknown> {
  const traits = new Map<string, unknown>();
  for (const { event } of inOrder(events.filter((each) => each.event.type === 'identify')))
    for (const [name, value] of Object.entries(event.traits ?? {})) traits.set(name, keptTrait(value ?? null));
  return traits;
}

type TileFacts = { total: number; first: number; last: number; hours: Record<number, number> };

function tilesOf(state: ProfileState): Map<number, TileFacts> {
  const oldest = Math.floor((state.evaluatedAt - TILE_MS) / HOUR_MS);
  return new Map(
    state.tiles.list.map((tile) => {
      const { buckets, counts } = hoursOf(tile);
      const known = buckets.map((hour, at) => [hour, counts[at] ?? 0]).filter(([hour = 0]) => hour >= oldest);
      const { hash, total, first, last } = tile;
      return [hash, { total, first, last, hours: Object.fromEntries(known) as TileFacts['hours'] }];
    }),
  );
}

function expectedTiles({ events }: OracleProfile, now: number): Map<number, TileFacts> {
  const tiles = new Map<number, TileFacts>();
  for (const { event, sourceId, at } of events) {
    const name = eventName(event);
    const text = `${sourceId}\n${event.type}\n${typeof name === 'string' ? name : ''}`;
    const hash = Number.parseInt(createHash('sha256').update(text).digest('hex').slice(0, 12), 16);
    const second = Math.floor(at / SECOND_MS) * SECOND_MS;
    const tile = tiles.get(hash) ?? { total: 0, first: second, last: second, hours: {} };
    const hour = Math.floor(at / HOUR_MS);
    if (hour >= Math.floor((now - TILE_MS) / HOUR_MS)) tile.hours[hour] = (tile.hours[hour] ?? 0) + 1;
    const [first, last] = [Math.min(tile.first, second), Math.max(tile.last, second)];
    tiles.set(hash, { ...tile, total: tile.total + 1, first, last });
  }
  return tiles;
}
