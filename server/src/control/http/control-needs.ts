import type { CatalogEntry } from '@millrace/contract/control';
import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics/open-metrics.ts';
import type { CheckUpRow } from '../../store/check-ups.ts';
import type { DestinationRow } from '../../store/destinations.ts';
import type { Store } from '../../store/open-store.ts';
import type { LaneHealth } from '../../domain/lane-health.ts';
import type { Asks } from '../../stream/signals/asks.ts';
import type { Tails } from '../../stream/signals/tail-listener.ts';
import type { KeyRing } from '../../secrets/seal.ts';
import type { Networks } from '../../http/address-policy.ts';
import type { Actor } from '../access/actor.ts';
import type { TryLimiter } from '../access/limit-tries.ts';
import type { MailNeeds } from '../mail/add-mail.ts';
import type { HostProof } from '../limits/target-hosts.ts';
import type { ProcessUse } from '../limits/read-use.ts';
import type { WorkspaceLimits } from '../limits/workspace-limits.ts';
import type { SingleSignOnNeeds } from '../sso/single-sign-on.ts';
import type { ConfigLimits } from '../settings/config-limits.ts';
import type { RemovalGuard } from '../../projection/project-config.ts';
import type { ControlSide } from '../../stream/open-control-side.ts';

export type AboutProcess = {
  version: string;
  roles: readonly string[];
  startedAt: Date;
  /** With secrets masked. */
  settings: readonly { name: string; value: string; isDefault: boolean }[];
};

/** A check-up whose row is committed. */
export type StartedCheckUp = { actor: Actor; row: CheckUpRow; destination: DestinationRow };

/** The dependencies of the control role; `startControl` brings them, tests bring their own. */
export type ControlNeeds = {
  store: Store;
  /** NATS as control sees it: dead letters, lanes, stored events. */
  side: ControlSide;
  keyRing: KeyRing;
  /** The kinds of destinations: CATALOG, or more in a test. */
  catalog: readonly CatalogEntry[];
  /** MILLRACE_ALLOW_CIDRS and MILLRACE_DENY_CIDRS. */
  networks: Networks;
  /** Called after each commit: wakes the projector and the jobs. */
  changed(): void;
  /** Tells compute that definitions have changed; without it, compute looks by itself after a moment. */
  definitionsChanged?(): void;
  /** MILLRACE_RECORD_ROWS; without it all. */
  successRowsKept?: number;
  /** MILLRACE_EXPORT_RETENTION; without it a day. */
  exportKeptMs?: number;
  /** A destination's lane as deliver last reported it; undefined when nothing waits. */
  laneOf(destinationId: string): LaneHealth | undefined;
  /** All lanes in use; without it the home screen shows none. */
  lanes?: { ofWorkspace(workspaceId: string): LaneHealth[]; all(): Iterable<LaneHealth> };
  /** How much configuration a workspace may have; without it only NATS refuses entries. */
  configLimits?: ConfigLimits;
  /** The other limits of workspaces; without them there are none. */
  limits?: WorkspaceLimits;
  /** The proof of hosts; without it no host can be proven and none has to be. */
  hostProof?: HostProof;
  /** The use of limits that only this process knows. */
  processUse?: ProcessUse;
  /** Config entries without a row that wait for the operator; without it there are none. */
  removals?: RemovalGuard;
  /** How long deliver tries a delivery; without it four hours. */
  retryWindowMs?: number;
  /** Whether every signed-in person may create workspaces; without it the operator alone. */
  workspaceCreation?: 'everyone' | 'operator';
  /** The console as people reach it; without it there are no passkeys. */
  consoleUrl?: string | undefined;
  /** How long the end of a workspace can be undone; without it 14 days. */
  workspaceGraceMs?: number;
  /** Set where the installation sends mail; without it, links are shown once to those who make them. */
  mail?: MailNeeds;
  /** Set where the installation knows its own address; without it, there is no single sign-on. */
  singleSignOn?: SingleSignOnNeeds;
  /** Limits how often something is tried; without it there is no limit. */
  tries?: Pick<TryLimiter, 'take'>;
  /** This process, for its operator. */
  about?: AboutProcess;
  metrics?: Metrics;
  /** The live tails of sources; without it they are empty. */
  tails?: Tails;
  /** How to ask a deliver process; without it there is none. */
  asks?: Asks;
  /** Runs check-ups beside the requests; without it there are none. */
  checkUps?: { start(started: StartedCheckUp): void };
  now(): Date;
  log: Logger;
};
