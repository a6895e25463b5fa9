import type { Cell } from '../domain/configuration.ts';
import type { Networks } from '../http/address-policy.ts';
import type { LimitValues } from '../limits/limits.ts';
import type { RecordSettings } from '../record/record-settings.ts';
import type { HostProof } from './limits/target-hosts.ts';
import type { SmtpSettings } from './mail/open-mailer.ts';

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
  /** Whether every signed-in person may create workspaces, or the operator alone. */
  workspaceCreation?: 'everyone' | 'operator';
  /** The limits of a workspace whose operator changed none; without them there are none. */
  limits?: LimitValues;
  /** Whether a workspace has to prove its hosts, and the names that need no proof; without it none has to. */
  hostProof?: Pick<HostProof, 'isNeeded' | 'exempt'>;
  /** Name servers other than those of the machine; for tests. */
  nameServers?: string[];
  /** How long the end of a workspace can be undone. */
  workspaceGraceMs?: number;
  /** How mail is sent; undefined where the installation sends none. */
  smtp?: SmtpSettings | undefined;
  /** The console as people reach it, without a slash at the end; mails need it. */
  consoleUrl?: string | undefined;
  /** The key ring: the last one seals, all of them open. */
  keys: ReadonlyMap<number, Buffer>;
  /** Where webhooks may be sent to, and where not. */
  networks: Networks;
  record: RecordSettings;
  /** Those of the settings; without them `main` alone. */
  cells?: readonly Cell[];
};
