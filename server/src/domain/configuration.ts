import type { FilterRule } from '@millrace/contract';

export type SourceConfig = {
  id: string;
  workspaceId: string;
  name: string;
  enabled: boolean;
  /** SHA-256 in hex: the bucket never has the keys themselves. */
  writeKeyHashes: string[];
  /** Calls a second, and how many may come at once after a quiet time. */
  rateLimit?: { perSecond: number; burst: number };
  /** Names of track events that go to no destination. */
  blockedEvents?: string[];
  /** Limits of the workspace that the operator changed; the same in all its sources. */
  limits?: ProjectedLimits;
};

/** The limits of a workspace that collect and deliver enforce. A limit that is left out has its default. */
export type ProjectedLimits = { callsPerSecond?: number; laneBytes?: number; deadLetterBytes?: number };

export type DestinationConfig = {
  id: string;
  workspaceId: string;
  sourceId: string;
  /** The name of its entry in the catalog. */
  catalog: string;
  name: string;
  enabled: boolean;
  /** Nothing is sent, and new deliveries wait. */
  paused?: boolean;
  /** The end of the last pause: deliveries that waited have their whole retry window from then on. */
  resumedAt?: string;
  /** Rules that an event has to pass to reach it; left out when there are none. */
  filters?: FilterRule[];
  /** By the schema of the catalog entry. Secrets are still sealed. */
  settings: Record<string, unknown>;
  updatedAt: string;
  /**
   * Only in memory: why the entry cannot be acted on, such as a newer format. Its deliveries wait as if it were paused; a process
   * that can read it decides which of them are sent.
   */
  notUnderstood?: string;
};

/** The marks of deletion requests for one user, who is known by a hash only. */
export type UserConfig = {
  workspaceId: string;
  /** Empty `sourceId`: all sources of the workspace. */
  marks: { sourceId: string; erasedBefore: string; suppressed: boolean }[];
};
