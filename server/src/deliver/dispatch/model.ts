/** The dispatcher as the other rooms see it, and its needs. */
import type { HostCap } from '../../limits/limits.ts';
import type { Attempt } from '../attempt/attempt.ts';
import type { Batched } from '../attempt/make-posts.ts';
import type { Webhook } from '../attempt/webhook.ts';
import type { Standing } from '../client/pace.ts';
import type { Gate, Shut } from './gate.ts';
import type { PendingAttempt } from './line.ts';
import type { Worked } from './worked.ts';
import type { YieldingWindow } from './yielding-window.ts';

export type Dispatcher = {
  /** A new delivery: attempted now, or after a short wait, or handed back. */
  offer(pending: PendingAttempt): void;
  /** A delivery from a lane, by the holder of its ticket: new ones go first, and it waits as long as it takes. */
  offerBacklog(pending: PendingAttempt): void;
  /** The one attempt that is made while the gate is shut, to see whether the receiver is back. */
  probe(pending: PendingAttempt): void;
  gateOf(destinationId: string): Gate;
  /** Another process, or a receiver's `Retry-After`, shut the gate. */
  shut(destinationId: string, shut: Shut): void;
  reopen(destinationId: string): void;
  /** Attempts that hold a slot. */
  inFlight(): number;
  /** Attempts that are late, and have left their slot to others. */
  late(): number;
  waiting(): number;
  /** Whether deliveries of this destination wait for their turn at a host. */
  waitsForHost(destinationId: string): boolean;
  /** About how long the destination waits for its turn at its hosts; 0 when it need not. */
  turnInMs(webhook: Webhook): number;
  hostsAtCap(): number;
  /** Hands everything back that has not been started, and starts nothing any more. */
  stop(): void;
};

export type DispatcherNeeds = {
  /** Of one delivery, or of several that share a body. */
  attempt(batch: readonly Batched[], webhook: Webhook, standing: Standing): Promise<Attempt>;
  peers(): number;
  /** The gate was shut or opened by what its receiver answered to this process. */
  learned(gate: Gate, webhook: Webhook): void;
  /** Receivers that work, as all processes know them; without it, as this process learned. */
  worked?: Pick<Worked, 'isKnown' | 'note'>;
  /** How many attempts of long backlogs may be under way; without it, as many as there are slots. */
  window?: Pick<YieldingWindow, 'room'>;
  /** The cap of one host over all workspaces; without it there is none. */
  hostCap?: HostCap | undefined;
  /** By the clock of NATS: all processes agree until when a gate is shut. */
  now(): number;
  /** Monotonic, for all waiting inside this process. */
  uptimeMs(): number;
  maxInFlight: number;
};
