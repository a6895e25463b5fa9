/**
 * Says what the memberships have to be, by brute force: it keeps every event, and evaluates every definition over all of them whenever
 * something could change. It shares no code with the fold, only the contract. Slow and simple on purpose.
 */
import { compareValues, isPlaceholderId, settleSecondsOf } from '@millrace/contract/audiences';
import type { ComputedValue, TransitionCause } from '../../src/compute/profiles/profile-store.ts';
import type { SourceEvent } from '../../src/compute/fold/incoming-event.ts';
import { changeTimes, type CountedEvent, valueOf, type OracleDefinition } from './oracle-values.ts';
import { openOracleIdentities } from './oracle-identities.ts';

export type OracleTransition = {
  profile: string;
  definition: number;
  sequence: number;
  value: ComputedValue;
  at: number;
  /** Undefined: it is not sent. */
  sendAt: number | undefined;
  /** Two where a definition changed and an event came at the same time: either may have led to it. */
  causes: readonly TransitionCause[];
  /** Of the event that was counted, if one was. */
  messageId: string | undefined;
};

type HeldValue = { sequence: number; value: ComputedValue };
export type OracleProfile = {
  name: string;
  events: CountedEvent[];
  /** When each group was last named. */
  groups: Map<string, number>;
  /** The hour of the newest receipt of each messageId. */
  receipts: Map<string, number>;
  clock: number;
  /** The version of the definitions that it was evaluated with. */
  version: number;
  held: Map<number, HeldValue>;
};

type Evaluation = { isConcerned(each: OracleDefinition): boolean; cause: TransitionCause; messageId?: string };

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
  readonly profiles: ReadonlyMap<string, OracleProfile>;
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
      groups: new Map(),
      receipts: new Map(),
      clock: 0,
      version: 0,
      held: new Map(),
    };
    profiles.set(name, found);
    return found;
  }

  /** Definitions come in an order in which those that are asked for are first. */
  function evaluate(profile: OracleProfile, now: number, { isConcerned, cause, messageId }: Evaluation): void {
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
      const isSent = profile.name.startsWith('user ') || each.definition.includeAnonymous === true;
      transitions.push({
        profile: profile.name,
        definition: each.number,
        sequence,
        value,
        at: now,
        sendAt: isSent ? now + settleSecondsOf(each.definition) * 1_000 : undefined,
        causes: each.changed > profile.version ? [cause, each.changeCause] : [cause],
        messageId,
      });
    }
  }

  function advance(profile: OracleProfile, upTo: number): void {
    const isKnown = ({ changed }: OracleDefinition) => changed <= profile.version;
    const times = changeTimes(definitions.filter(isKnown), profile.events);
    for (const at of times.filter((at) => at > profile.clock && at <= upTo))
      evaluate(profile, at, { isConcerned: isKnown, cause: 'time' });
    profile.clock = Math.max(profile.clock, upTo);
  }

  function evaluateAll(profile: OracleProfile, cause: TransitionCause, messageId?: string): void {
    evaluate(profile, profile.clock, { isConcerned: () => true, cause, ...(messageId && { messageId }) });
    profile.version = version;
  }

  function merge(into: OracleProfile, from: OracleProfile, now: number): void {
    advance(from, now);
    advance(into, now);
    into.clock = Math.max(into.clock, from.clock);
    into.events.push(...from.events);
    for (const [id, hour] of from.receipts) into.receipts.set(id, Math.max(hour, into.receipts.get(id) ?? hour));
    for (const [id, at] of from.groups) into.groups.set(id, Math.max(at, into.groups.get(id) ?? at));
    profiles.delete(from.name);
    evaluateAll(into, 'merge');
  }

  function isRepeated(profile: OracleProfile, messageId: string, receivedAt: number): boolean {
    const hour = Math.floor(receivedAt / HOUR_MS);
    const newest = Math.max(hour, ...profile.receipts.values());
    const before = profile.receipts.get(messageId);
    profile.receipts.set(messageId, Math.max(hour, before ?? hour));
    return before !== undefined && before >= newest - 24;
  }

  return {
    profiles,
    transitions,
    get received() {
      return received;
    },
    define(given, givenVersion) {
      definitions = given;
      version = givenVersion;
      for (const { held } of profiles.values())
        for (const number of held.keys()) if (!given.some((each) => each.number === number)) held.delete(number);
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
      const at = Math.min(Date.parse(event.timestamp), now);
      if (event.type === 'group' && !isPlaceholderId(event.groupId))
        profile.groups.set(event.groupId, Math.max(at, profile.groups.get(event.groupId) ?? at));
      const isCounted = event.type !== 'group' && event.type !== 'alias';
      if (isCounted && !isRepeated(profile, event.messageId, now)) profile.events.push({ event, sourceId, index, at });
      evaluateAll(profile, 'event', event.messageId);
    },
    pass(upTo) {
      for (const profile of profiles.values()) advance(profile, upTo);
    },
    scan(now) {
      for (const profile of profiles.values()) {
        if (profile.version === version) continue;
        advance(profile, now);
        evaluateAll(profile, 'backfill');
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
