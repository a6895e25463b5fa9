/**
 * The face of the profile store: the role `compute` knows no more of PostgreSQL, and the store looks into no state.
 *
 * A position is held by one reader at a time. `takeOver` makes the caller its holder and counts its epoch up; from then on a
 * transaction of the holder before ends with LostPosition and leaves nothing behind. All that a batch changes is written by one
 * transaction: profiles, timers, memberships, history, outbox, and the position itself.
 */
import type { IdKind, ProfileKey } from './profile-key.ts';

/** Counts definitions over all workspaces, from 1; never used again. Stands for the definition's id in states and tables. */
export type DefinitionNumber = number;

/** A stream with the time of its creation in milliseconds: one that was deleted and made anew is another one. */
export type StreamIdentity = { name: string; createdAt: number };

/** The last sequence that was folded (0 for none), and the time up to which timers have run, in milliseconds. */
export type Position = { sequence: number; clock: number };
export type HeldPosition = Position & { stream: StreamIdentity; epoch: number };

/** Another reader has taken over the position. Nothing was written. */
export class LostPosition extends Error {
  override readonly name = 'LostPosition';
}

/** The bytes are the fold's. `dueAt`: when the profile has to be evaluated again by itself; it is the profile's only timer. */
export type StoredProfile = {
  key: ProfileKey;
  workspaceId: string;
  kind: IdKind;
  id: string;
  state: Uint8Array;
  dueAt: number | undefined;
};

/** Whose events the events of a linked id are. `shared`: seen with two users, so its events without a userId are nobody's. */
export type LinkTarget = ProfileKey | 'shared';
export type Links = ReadonlyMap<ProfileKey, LinkTarget>;

/** A new or changed link. If the id was a profile until now, its state, timer, memberships and unsent transitions go. */
export type NewLink = {
  from: ProfileKey;
  workspaceId: string;
  kind: IdKind;
  id: string;
  to: LinkTarget;
  /** Definitions that counted the profile as a member, or had a value for it. */
  left: DefinitionNumber[];
};

/** Audiences: boolean. Traits: their value, null for none. */
export type ComputedValue = boolean | number | string | string[] | null;

export type TransitionCause = 'event' | 'time' | 'backfill' | 'edit' | 'merge';

/** A change of a membership or of a trait's value. */
export type Transition = {
  definition: DefinitionNumber;
  key: ProfileKey;
  /** In milliseconds. */
  at: number;
  value: ComputedValue;
  /** The value before: that of the transition with the sequence before, or false (null for traits) for the first one. */
  previous: ComputedValue;
  /** Counts the transitions of this profile and definition, from 1, without gaps. */
  sequence: number;
  cause: TransitionCause;
  /** The event that caused it. */
  messageId?: string;
  /** When it may be sent, after the definition's settle time; undefined when it is not to be sent. */
  sendAt: number | undefined;
  /** Part of a first sync, which yields to everything else. */
  isFirstSync?: boolean;
};

export type ProfileChanges = {
  /** Written whole. Each must have been loaded by this transaction, or be absent and named to it. */
  profiles: readonly StoredProfile[];
  links: readonly NewLink[];
  /** In the order of their sequences. Memberships, sizes, history and outbox follow from them. */
  transitions: readonly Transition[];
};

export type LoadedProfiles = {
  links: Links;
  /** The chosen ones that exist. A chosen key that is missing here and in `links` is reserved for this transaction. */
  profiles: ReadonlyMap<ProfileKey, StoredProfile>;
};

/** A definition as a reader needs it: all versions that are computed now, and the body of each. */
export type StoredDefinition = {
  number: DefinitionNumber;
  id: string;
  workspaceId: string;
  kind: 'audience' | 'trait';
  key: string;
  state: DefinitionState;
  /** Lowest first: the one that is live, and the one that is to replace it. */
  versions: { version: number; body: unknown; isLive: boolean }[];
};
export type DefinitionState = 'preparing' | 'computing' | 'live' | 'deleting' | 'deleted';

/** From this sequence on the reader of the stream folds the version; everything before it is left to the backfill. */
export type FoldingStart = { definition: DefinitionNumber; version: number; sequence: number };

export type FoldTx = {
  /** Counts the changes of all definitions: the same number, the same definitions. Read when the transaction begins. */
  readonly definitionsVersion: number;
  /** Definitions that changed after that version, deleted ones included; 0 for all. */
  definitions(after: number): Promise<StoredDefinition[]>;
  startFolding(starts: readonly FoldingStart[]): Promise<void>;
  /**
   * Reads the links of these keys (and the links of their targets), asks `choose` which profiles the caller is going to write,
   * and locks those in the order of their keys, unknown ones included. If a link has changed meanwhile, it starts over, so
   * `choose` has to be a pure function. Once in a transaction, before everything else.
   */
  load(keys: Iterable<ProfileKey>, choose: (links: Links) => Iterable<ProfileKey>): Promise<LoadedProfiles>;
  /** Profiles whose timer is due, earliest first, locked. Those that another transaction has locked are left out. */
  loadDue(upTo: number, most: number): Promise<StoredProfile[]>;
  write(changes: ProfileChanges): Promise<void>;
  moveTo(position: Position): Promise<void>;
};

export type ProfileStore = {
  /** The stream of a new creation time begins at 0; the clock goes on, since time never goes backwards. */
  takeOver(stream: StreamIdentity, holder: string): Promise<HeldPosition>;
  /** Rejects without an effect, or commits everything. `moveTo` need not be called, for work that belongs to no event. */
  fold<T>(position: HeldPosition, work: (tx: FoldTx) => Promise<T>): Promise<T>;
};
