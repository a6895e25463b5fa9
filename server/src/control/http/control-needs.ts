import type { CatalogEntry } from '@millrace/contract/control';
import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics/open-metrics.ts';
import type { Store } from '../../store/open-store.ts';
import type { LaneHealth } from '../../domain/lane-health.ts';
import type { Tails } from '../../stream/signals/tail-listener.ts';
import type { KeyRing } from '../../secrets/seal.ts';
import type { Networks } from '../../http/address-policy.ts';
import type { ConfigLimits } from '../settings/config-limits.ts';
import type { RemovalGuard } from '../../projection/project-config.ts';
import type { ControlSide } from '../../stream/open-control-side.ts';

/** What the control role is given; nothing in it is found by itself. */
export type ControlNeeds = {
  store: Store;
  /** What people act on in the engine: dead letters, lanes, stored events. */
  side: ControlSide;
  keyRing: KeyRing;
  /** What a destination can be; CATALOG, or more in a test. */
  catalog: readonly CatalogEntry[];
  /** MILLRACE_ALLOW_CIDRS and MILLRACE_DENY_CIDRS. */
  networks: Networks;
  /** Called after a commit that the config bucket should hear of. */
  changed(): void;
  /** A destination's lane as deliver last told of it; undefined when nothing waits. */
  laneOf(destinationId: string): LaneHealth | undefined;
  /** How much configuration a workspace may have; without it only the engine says no. */
  configLimits?: ConfigLimits;
  /** Entries that wait to be removed; without it there are none. */
  removals?: RemovalGuard;
  metrics?: Metrics;
  /** How to look on at sources; without it there is nothing to be seen. */
  tails?: Tails;
  now(): Date;
  log: Logger;
};
