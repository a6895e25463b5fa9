import type { CatalogEntry } from '@millrace/contract/control';
import type { Logger } from '../log.ts';
import type { Store } from '../store/open-store.ts';
import type { KeyRing } from '../secrets/seal.ts';
import type { AllowedNetworks } from '../http/address-policy.ts';

/** What the control role is given; nothing in it is found by itself. */
export type ControlNeeds = {
  store: Store;
  keyRing: KeyRing;
  /** What a destination can be; CATALOG, or more in a test. */
  catalog: readonly CatalogEntry[];
  /** MILLRACE_ALLOW_CIDRS. */
  allowedNetworks: AllowedNetworks;
  /** Called after a commit that the config bucket should hear of. */
  changed(): void;
  now(): Date;
  log: Logger;
};
