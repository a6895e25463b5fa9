/**
 * The face of the profile store: the role `compute` knows no more of PostgreSQL, and the store looks into no state.
 *
 * A position is held by one reader at a time. `takeOver` makes the caller its holder and counts its epoch up; from then on a
 * transaction of the holder before ends with LostPosition and leaves nothing behind. All that a batch changes is written by one
 * transaction: profiles, timers, memberships, history, outbox, and the position itself.
 */
import type { IdKind, ProfileKey } from './profile-key.ts';

export type DefinitionKind = 'audience' | 'trait';

/** Counts definitions over all workspaces, from 1; never used again. Stands for the definition's id in states and tables. */
export type DefinitionNumber = number;

/**
 * How far a stream is folded. The reader compares `createdAt` and `storedAt` with the stream's own, because a restored stream may
 * hold other messages under the same sequences. All times are milliseconds since 1970.
 */
export type Position = {
  /** When the stream was created. */
  createdAt: number;
  /** The last sequence that was folded. */
  sequence: number;
  /** When NATS stored the message with that sequence. */
  storedAt: number;
  /** The time up to which timers have run. */
  clock: number;
  /** Sequences before it that only a newer version can fold. */
  left: readonly number[];
};

/** `position` is undefined until the first `moveTo`. */
export type HeldPosition = { stream: string; epoch: number; position: Position | undefined };

/** A position as another process sees it. `beat` changes with each commit of the holder; no holder: released. */
export type PositionState = HeldPosition & { holder: string | undefined; beat: string };

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

/**
 * The key of the profile that a linked id stands for; or `shared` for an id that was seen with two users: its events without a userId
 * count for no profile.
 */
export type LinkTarget = string;
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
export type ComputedValue = boolean | number | string | (string | number | boolean)[] | null;

export type TransitionCause = 'event' | 'time' | 'backfill' | 'edit' | 'merge';

/** A change of a membership or of a trait's value. */
export type Transition = {
  definition: DefinitionNumber;
  /** False is no membership of an audience, and a value of a trait. */
  kind: DefinitionKind;
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
  /**
   * When it may be sent: its time plus the definition's settle time. A transition that coalesces with an unsent one does not delay
   * it, or a value that keeps changing would never be sent. Undefined when it is not to be sent.
   */
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
  kind: DefinitionKind;
  key: string;
  state: DefinitionState;
  destinations: string[];
  /** The `definitionsVersion` in which the definition or one of its versions last changed. */
  changed: number;
  /** Lowest first: the one that is live, and the one that is to replace it. Replaced ones are left out. */
  versions: StoredVersion[];
};
export type DefinitionState = 'preparing' | 'computing' | 'live' | 'deleting' | 'deleted';

/** Body and measures are the fold's. */
export type StoredVersion = { version: number; body: unknown; measures: unknown; state: VersionState };
export type VersionState = 'preparing' | 'computing' | 'live' | 'replaced';

export type DefinitionList = { version: number; definitions: StoredDefinition[] };

/** From this sequence on the reader of the stream folds the version; everything before it is left to the backfill. */
export type FoldingStart = { definition: DefinitionNumber; version: number; createdAt: number; sequence: number };

export type FoldTx = {
  /** Counts the changes of all definitions: the same number, the same definitions. Read when the transaction begins. */
  readonly definitionsVersion: number;
  /** Definitions that changed after a version, deleted ones included; 0 for all. Its own version may be newer than the above. */
  definitions(after: number): Promise<DefinitionList>;
  startFolding(starts: readonly FoldingStart[]): Promise<void>;
  /** Events that came after this time were trimmed before they were folded: every definition says so from now on. */
  markIncomplete(since: number): Promise<void>;
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

/** A transition on its way, to the destinations that its definition had when it was claimed, or to a new one of them. */
export type SendingTransition = {
  workspaceId: string;
  definition: DefinitionNumber;
  definitionId: string;
  definitionKind: DefinitionKind;
  definitionKey: string;
  key: ProfileKey;
  kind: IdKind;
  id: string;
  value: ComputedValue;
  /** Of the last transition that it stands for. Grows with each one that is sent of a profile and definition, with gaps. */
  sequence: number;
  at: number;
  destinations: string[];
};

/** Its rows never change: a relay that takes over sends the same again. */
export type SendingBatch = { batch: string; transitions: SendingTransition[] };

/** At most `most` in all, and `mostOfFirstSyncs` of first syncs, for which there is room only when little else waits. */
export type ClaimOptions = { now: number; most: number; mostOfFirstSyncs: number };

export type ProfileStore = {
  /** Counts the epoch up. The position is the stored one: the reader decides where to go on, and `moveTo` writes it. */
  takeOver(stream: string, holder: string): Promise<HeldPosition>;
  positions(): Promise<PositionState[]>;
  /** So that the next holder need not wait. No effect if another one has taken over. */
  release(held: HeldPosition): Promise<void>;
  /** Whether there is anything to compute. */
  hasDefinitions(): Promise<boolean>;
  /**
   * Rejects without an effect, or commits everything; only a lost connection leaves open which (StoreUnavailable): take over again
   * and see. `moveTo` need not be called, for work that belongs to no event.
   */
  fold<T>(held: HeldPosition, work: (tx: FoldTx) => Promise<T>): Promise<T>;
  /** The batch that is being sent; else a new one of what may be sent at `now`, oldest first, first syncs last. */
  claimBatch(held: HeldPosition, options: ClaimOptions): Promise<SendingBatch | undefined>;
  deleteBatch(held: HeldPosition, batch: string): Promise<void>;
};
