import { createHash } from 'node:crypto';
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
  /** Where collect stores its requests, unless that is `main`; NO_CELL while it must not store them. */
  cell?: string;
  /** The cell that takes them while the first one is away. */
  spare?: string;
  /** Every cell that may have requests of it, unless that is `main` alone. */
  cells?: string[];
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

/** A cell is what one NATS cluster carries. The cluster of MILLRACE_NATS_URL is `main`. */
export const MAIN_CELL = 'main';
export const CELL_NAME = /^[a-z][a-z0-9-]{0,31}$/;
/** No name of a cell: of a source that no cell takes requests of, because none is known to have its configuration. */
export const NO_CELL = '?';

export type Cell = {
  name: string;
  url: string;
  /** Takes the calls of this cell's sources while the cell is away. */
  spare?: string;
};

/** Numbers of dead letters, and places in streams, hold the place of their cell and have room for this many. */
export const CELL_PLACES = 512;

/** A number of the name alone: it stays as it is when other cells come or go. `main` has 0. */
export function placeOfCell(name: string): number {
  if (name === MAIN_CELL) return 0;
  return 1 + (createHash('sha256').update(name).digest().readUInt32BE(0) % (CELL_PLACES - 1));
}

/** The first two names that have the same place. */
export function samePlace(names: readonly string[]): readonly [string, string] | undefined {
  const known = new Map<number, string>();
  for (const name of names) {
    const other = known.get(placeOfCell(name));
    if (other !== undefined) return [other, name];
    known.set(placeOfCell(name), name);
  }
  return undefined;
}

/** Streams have the same names in every cell: where names of several cells meet, `main` keeps the plain one. */
export function nameInCell(cell: string, name: string): string {
  return cell === MAIN_CELL ? name : `${cell}/${name}`;
}

export function readNameInCell(text: string): { cell: string; name: string } {
  const [cell = '', name] = text.split('/');
  return name === undefined ? { cell: MAIN_CELL, name: text } : { cell, name };
}
