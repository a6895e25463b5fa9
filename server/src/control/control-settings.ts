import type { Networks } from '../http/address-policy.ts';
import type { RecordSettings } from '../record/record-settings.ts';

/** The control role's part of the environment. */
export type ControlSettings = {
  host: string;
  port: number;
  maxConnections: number;
  trustedProxies: string[];
  /** A built console to serve; our own where it is undefined. */
  consoleDir?: string | undefined;
  databaseUrl: string;
  /** Signs in as the owner of the tables; the same as above where one login does both. */
  migrationDatabaseUrl: string;
  /** Becomes the secret of the first workspace's owner token. */
  bootstrapToken: string | undefined;
  /** The key ring: the last one seals, all of them open. */
  keys: ReadonlyMap<number, Buffer>;
  /** Where webhooks may be sent to, and where not. */
  networks: Networks;
  record: RecordSettings;
};
