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

/**
 * A position as another process sees it. `beat` changes with each commit of the holder; no holder: released. All its later transactions
 * use definitions of this version or newer ones.
 */
export type PositionState = HeldPosition & { holder: string | undefined; beat: string; definitionsVersion: number };

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
  /** Whether the members of a definition that is being deleted are told that they leave. */
  membersGo: 'exit' | 'leave' | null;
  /** It has destinations, or had some: transitions are sent. */
  isTold: boolean;
  /** The `definitionsVersion` in which the definition or one of its versions last changed. */
  changed: number;
  /** The `definitionsVersion` in which what is evaluated last changed: its live version, or that its members leave. */
  revised: number;
  workspaceState: WorkspaceState;
  /** Lowest first: the one that is live, and the one that is to replace it. Replaced ones are left out. */
  versions: StoredVersion[];
};
/**
 * `reading`: the events that were stored before the first definition are being folded, and no definition is folded yet. `clearing`: the
 * profiles of the workspace are being deleted, and none of its events are folded.
 */
export type WorkspaceState = 'reading' | 'ready' | 'clearing';
export type DefinitionState = 'preparing' | 'computing' | 'live' | 'deleting' | 'deleted';

/** Body and measures are the fold's. */
export type StoredVersion = { version: number; body: unknown; measures: unknown; state: VersionState };
export type VersionState = 'preparing' | 'computing' | 'live' | 'replaced';

export type DefinitionList = { version: number; definitions: StoredDefinition[] };

/** A version of a definition. */
export type VersionName = { definition: DefinitionNumber; version: number };

/**
 * From this sequence on the reader of a stream folds something; everything before it is left to the backfill, but for the sequences that
 * the reader has left for later. `storedAt`: of the message before.
 */
export type StartPlace = Pick<Position, 'createdAt' | 'sequence' | 'storedAt' | 'left'>;

/** Versions and workspaces that a reader begins to fold. `version`: of the definitions that it uses from now on, or newer ones. */
export type FoldingStarts = {
  version: number;
  place: StartPlace;
  versions: readonly VersionName[];
  workspaces: readonly string[];
};

export type FoldTx = {
  /** Counts the changes of all definitions: the same number, the same definitions. Read when the transaction begins. */
  readonly definitionsVersion: number;
  /** Definitions that changed after a version, deleted ones included; 0 for all. Its own version may be newer than the above. */
  definitions(after: number): Promise<DefinitionList>;
  startFolding(starts: FoldingStarts): Promise<void>;
  /** Events that came after this time were trimmed before they were folded: every definition says so from now on. */
  markIncomplete(since: number): Promise<void>;
  /**
   * Reads the links of these keys (and the links of their targets), asks `choose` which profiles the caller is going to write,
   * and locks those in the order of their keys, unknown ones included. If a link has changed meanwhile, it starts over, so
   * `choose` has to be a pure function. Once in a transaction, before everything else.
   */
  load(keys: Iterable<ProfileKey>, choose: (links: Links) => Iterable<ProfileKey>): Promise<LoadedProfiles>;
  /** Counts the erasures and suppressions of users. To be read after `load`: one that was committed before the locks is counted. */
  erasures(): Promise<number>;
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
  /** Since when it may be sent. Undefined for a first sync, which gives way to everything else. */
  sendAt: number | undefined;
  destinations: string[];
  /** When the user was last erased: the profile is a new one since then, and its sequences began again. */
  erasedAt: number | undefined;
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
  /** Whether a stream without a position is one that was added since: its events count from the first one on. */
  countsFromTheBeginning(): Promise<boolean>;
  /** While there are no definitions: where reading ended before says nothing to later ones. */
  forgetPositions(): Promise<void>;
  /**
   * Rejects without an effect, or commits everything; only a lost connection leaves open which (StoreUnavailable): take over again
   * and see. `moveTo` need not be called, for work that belongs to no event.
   */
  fold<T>(held: HeldPosition, work: (tx: FoldTx) => Promise<T>): Promise<T>;
  /** The batch that is being sent; else a new one of what may be sent at `now`, oldest first, first syncs last. */
  claimBatch(held: HeldPosition, options: ClaimOptions): Promise<SendingBatch | undefined>;
  deleteBatch(held: HeldPosition, batch: string): Promise<void>;
};
