/**
 * Says what the memberships have to be, by brute force: it keeps every event, and evaluates every definition over all of them whenever
 * something could change. It shares no code with the fold, only the contract. Slow and simple on purpose.
 */
import { compareValues } from '@millrace/contract/audiences';
import type { ComputedValue } from '../../src/compute/profiles/profile-store.ts';
import type { SourceEvent } from '../../src/compute/fold/incoming-event.ts';
import { changeTimes, type CountedEvent, valueOf, type OracleDefinition } from './oracle-values.ts';
import { openOracleIdentities } from './oracle-identities.ts';

export type OracleTransition = {
  profile: string;
  definition: number;
  sequence: number;
  value: ComputedValue;
  at: number;
};

type HeldValue = { sequence: number; value: ComputedValue };
type OracleProfile = {
  name: string;
  events: CountedEvent[];
  /** The hour of the newest receipt of each messageId. */
  receipts: Map<string, number>;
  clock: number;
  /** The version of the definitions that it was evaluated with. */
  version: number;
  held: Map<number, HeldValue>;
};

const HOUR_MS = 3_600_000;

export type Oracle = {
  define(definitions: readonly OracleDefinition[], version: number): void;
  receive(event: SourceEvent): void;
  /** Time passes for all profiles. */
  pass(upTo: number): void;
  /** The definitions that changed are evaluated for all profiles that have not met them yet. */
  scan(now: number): void;
  /** Values other than false and null, by profile and definition. */
  values(): Map<string, ComputedValue>;
  readonly transitions: OracleTransition[];
  /** The number of events so far. */
  readonly received: number;
};

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openOracle(): Oracle {
  const identities = openOracleIdentities();
  const profiles = new Map<string, OracleProfile>();
  const transitions: OracleTransition[] = [];
  let definitions: readonly OracleDefinition[] = [];
  let version = 0;
  let received = 0;

  function profileNamed(name: string): OracleProfile {
    const found = profiles.get(name) ?? {
      name,
      events: [],
      receipts: new Map(),
      clock: 0,
      version: 0,
      held: new Map(),
    };
    profiles.set(name, found);
    return found;
  }

  /** Definitions come in an order in which those that are asked for are first. */
  function evaluate(profile: OracleProfile, now: number, isConcerned: (each: OracleDefinition) => boolean): void {
    const isMember = (id: string) => {
      const other = definitions.find((each) => each.id === id);
      return other !== undefined && profile.held.get(other.number)?.value === true;
    };
    for (const each of definitions.filter(isConcerned)) {
      const value = valueOf(each, profile.events, { now, isMember });
      const before = profile.held.get(each.number) ?? {
        sequence: 0,
        value: each.definition.kind === 'audience' ? false : null,
      };
      if (JSON.stringify(before.value) === JSON.stringify(value)) continue;
      const sequence = before.sequence + 1;
      profile.held.set(each.number, { sequence, value });
      transitions.push({ profile: profile.name, definition: each.number, sequence, value, at: now });
    }
  }

  function advance(profile: OracleProfile, upTo: number): void {
    const isKnown = ({ changed }: OracleDefinition) => changed <= profile.version;
    const times = changeTimes(definitions.filter(isKnown), profile.events);
    for (const at of times.filter((at) => at > profile.clock && at <= upTo)) evaluate(profile, at, isKnown);
    profile.clock = Math.max(profile.clock, upTo);
  }

  function evaluateAll(profile: OracleProfile): void {
    evaluate(profile, profile.clock, () => true);
    profile.version = version;
    for (const number of profile.held.keys())
      if (!definitions.some((each) => each.number === number)) profile.held.delete(number);
  }

  function merge(into: OracleProfile, from: OracleProfile, now: number): void {
    advance(from, now);
    advance(into, now);
    into.clock = Math.max(into.clock, from.clock);
    into.events.push(...from.events);
    for (const [id, hour] of from.receipts) into.receipts.set(id, Math.max(hour, into.receipts.get(id) ?? hour));
    profiles.delete(from.name);
    evaluateAll(into);
  }

  function isRepeated(profile: OracleProfile, messageId: string, receivedAt: number): boolean {
    const hour = Math.floor(receivedAt / HOUR_MS);
    const newest = Math.max(hour, ...profile.receipts.values());
    const before = profile.receipts.get(messageId);
    profile.receipts.set(messageId, Math.max(hour, before ?? hour));
    return before !== undefined && before >= newest - 24;
  }

  return {
    transitions,
    get received() {
      return received;
    },
    define(given, givenVersion) {
      definitions = given;
      version = givenVersion;
    },
    receive({ event, sourceId }) {
      const index = received;
      received += 1;
      const { owner, merged } = identities.resolve(event);
      if (owner === undefined) return;
      const now = Date.parse(event.receivedAt);
      const profile = profileNamed(owner);
      for (const name of merged) {
        const from = profiles.get(name);
        if (from !== undefined) merge(profile, from, now);
      }
      advance(profile, now);
      const isCounted = event.type !== 'group' && event.type !== 'alias';
      if (isCounted && !isRepeated(profile, event.messageId, now))
        profile.events.push({ event, sourceId, index, at: Math.min(Date.parse(event.timestamp), now) });
      evaluateAll(profile);
    },
    pass(upTo) {
      for (const profile of profiles.values()) advance(profile, upTo);
    },
    scan(now) {
      for (const profile of profiles.values()) {
        if (profile.version === version) continue;
        advance(profile, now);
        evaluateAll(profile);
      }
    },
    values() {
      const entries = [...profiles.values()].flatMap(({ name, held }) =>
        [...held].map(([number, { value }]) => [`${name} ${number}`, value] as const),
      );
      const having = entries.filter(([, value]) => value !== false && value !== null);
      return new Map(having.toSorted(([a], [b]) => compareValues(a, b)));
    },
  };
}
