/**
 * A fold with the cost of a real one and nothing of its meaning: the state has the bytes of an ordinary profile, and a sequence for each
 * definition, so that the store gets the changes that it would get.
 */
import { profileKey } from '../../../server/src/compute/profiles/profile-key.ts';
import type { ProfileChanges, StoredProfile, Transition } from '../../../server/src/compute/profiles/profile-store.ts';

export type Load = {
  workspaceId: string;
  users: number;
  /** The share of events of the twenty busiest users. */
  hotShare: number;
  definitions: number[];
  transitionsPerEvent: number;
  /** The share of events that move the profile's timer. */
  timerShare: number;
  /** CPU time of a fold, during which the locks are held. */
  foldUs: number;
};

const STATE_BYTES = 295;
const HOT_USERS = 20;
const MINUTE_MS = 60_000;
const DAYS_30_IN_MINUTES = 43_200;

export function makeUsers(events: number, { users, hotShare }: Load): number[] {
  return Array.from({ length: events }, () =>
    Math.floor(Math.random() * (Math.random() < hotShare ? Math.min(HOT_USERS, users) : users)),
  );
}

export function keyOfUser(workspaceId: string, user: number): string {
  return profileKey(workspaceId, 'user', userIdOf(user));
}

function userIdOf(user: number): string {
  return `user-${String(user).padStart(8, '0')}`;
}

/** One event for each entry of `users`. */
export function foldUsers(
  users: readonly number[],
  stored: ReadonlyMap<string, StoredProfile>,
  load: Load,
): ProfileChanges {
  const until = performance.now() + (users.length * load.foldUs) / 1_000;
  const profiles = new Map<number, StoredProfile>();
  const transitions: Transition[] = [];
  const at = Date.now();
  for (const user of users) {
    const profile = profiles.get(user) ?? nextState(user, stored, load.workspaceId);
    profiles.set(user, profile);
    if (Math.random() < load.timerShare) profile.dueAt = dueAfter(at);
    const due = Math.floor(load.transitionsPerEvent + Math.random());
    for (let nth = 0; nth < due; nth += 1) transitions.push(moveOne(profile, at, load));
  }
  while (performance.now() < until);
  return { profiles: [...profiles.values()], links: [], transitions };
}

function nextState(user: number, stored: ReadonlyMap<string, StoredProfile>, workspaceId: string): StoredProfile {
  const key = keyOfUser(workspaceId, user);
  const before = stored.get(key);
  const state = before === undefined ? Buffer.alloc(STATE_BYTES) : Buffer.from(before.state);
  return { key, workspaceId, kind: 'user', id: userIdOf(user), state, dueAt: before?.dueAt };
}

function dueAfter(at: number): number {
  return (Math.floor(at / MINUTE_MS) + 1 + Math.floor(Math.random() * DAYS_30_IN_MINUTES)) * MINUTE_MS;
}

/** Members leave, the others enter. */
function moveOne({ key, state }: StoredProfile, at: number, { definitions }: Load): Transition {
  const nth = Math.floor(Math.random() * definitions.length);
  const bytes = Buffer.from(state.buffer, state.byteOffset, state.length);
  const sequence = bytes.readUInt16BE(2 * nth) + 1;
  bytes.writeUInt16BE(sequence, 2 * nth);
  const value = sequence % 2 === 1;
  const definition = definitions[nth] ?? 0;
  const messageId = '018f0c5a-7c1e-7000-8000-000000000000';
  return {
    definition,
    kind: 'audience',
    key,
    at,
    value,
    previous: !value,
    sequence,
    cause: 'event',
    messageId,
    sendAt: at,
  };
}
