import type { Fault } from '../run-fault.ts';
import type { Row } from './matrix.ts';

/** The sentences that oracles check, by the name that the table of docs/inside/faults.md uses. */
export const INVARIANTS = {
  kept: 'each call that was answered 200 is stored, and reaches each of its destinations or is kept with the reason',
  own: 'each call is stored for its own source, and arrives at its own workspace with a signature of its own secret',
  once: 'a request that is sent again is stored once, or in two streams while its home was silent',
  repeats: 'deliveries come again only after a fault, and no more than were under way then',
  bytes: 'bodies are those that clients sent',
  'no ghosts': 'nothing is stored or delivered that no client sent',
  answers: 'clients get only the answers that are promised, in time',
  record: 'rows, attempts, counters and usage equal what clients and receivers saw',
  times: 'attempts and changes come at their times',
  others: 'other workspaces and other receivers do not notice',
  room: 'memory, sockets and processor time stay bounded',
  heals: 'no process is started again but the victim, and nothing waits at the end',
  audiences: 'profiles and memberships equal those of an uninterrupted run',
} as const;

export type Invariant = keyof typeof INVARIANTS;

export type Victim = 'collect' | 'deliver' | 'control' | 'compute' | 'NATS' | 'PostgreSQL' | 'receivers' | 'clients';

export type FaultEntry = {
  run: Fault;
  /** It holds under this fault; names the test. */
  promise: string;
  injects: string;
  /** The processes that it is injected into, or that misbehave. */
  against: readonly Victim[];
  invariants: readonly Invariant[];
  covers: readonly Row[];
  /**
   * Judges what is lost, repeated or wrong, and no time that others on the machine could lengthen by much: it may run beside other
   * tests. The others measure, and run alone.
   */
  isTimeless?: true;
};

export type FaultEntries = Readonly<Record<string, FaultEntry>>;

/** Of the oracle that compares streams with what clients were told. */
export const STORED: readonly Invariant[] = ['kept', 'own', 'once', 'no ghosts', 'answers'];
/** Of the oracle that compares receivers with what clients were told. */
export const DELIVERED: readonly Invariant[] = ['kept', 'own', 'repeats', 'bytes', 'no ghosts', 'heals'];
/** The same and the record. */
export const RECORDED: readonly Invariant[] = [...DELIVERED, 'record'];
