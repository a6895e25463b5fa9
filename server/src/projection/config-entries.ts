import { type BodyFormat, isBatchFormat } from '@millrace/contract';
import type { ProjectedUser } from '../store/erased-users.ts';
import type { DestinationRow } from '../store/destinations.ts';
import type { ProjectedSource } from '../store/projection.ts';
import { DESTINATION_FORMATS, FORMATS } from '../domain/format.ts';
import { configKey } from '../stream/config/config-bucket.ts';
import {
  type DestinationConfig,
  MAIN_CELL,
  NO_CELL,
  type ProjectedLimits,
  type SourceConfig,
  type UserConfig,
} from '../domain/configuration.ts';
import { PROJECTED_LIMITS } from '../limits/limits.ts';

/** An entry of the config bucket as its row defines it. The same row always gives the same text. */
export type ConfigEntry = { key: string; value: string };

export function sourceEntry(row: ProjectedSource): ConfigEntry {
  const perSecond = row.rate_limit_per_second;
  const config: SourceConfig = {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    enabled: row.enabled,
    writeKeyHashes: row.key_hashes,
    ...(perSecond === null ? {} : { rateLimit: { perSecond, burst: perSecond * 2 } }),
    ...(row.blocked_events.length === 0 ? {} : { blockedEvents: row.blocked_events }),
    ...(row.limits === null ? {} : { limits: projectedLimits(row.limits) }),
    ...cellsOf(row),
  };
  return { key: configKey.source(row.id), value: textOf(config, FORMATS.source) };
}

/** Nothing for a source that is and was in `main` alone, as in an installation without cells. */
function cellsOf(row: ProjectedSource): Pick<SourceConfig, 'cell' | 'spare' | 'cells'> {
  const { cell, spare, next_cell: next, next_spare: nextSpare, former_cells: former } = row;
  const cells = [...new Set([cell, spare, next, nextSpare, ...former])].filter((each) => each !== null);
  // It is new, and its own cell may not know it yet.
  if (next === cell) return { cell: NO_CELL, cells };
  return {
    ...(cell === MAIN_CELL ? {} : { cell }),
    ...(spare === null ? {} : { spare }),
    ...(cells.length === 1 && cell === MAIN_CELL ? {} : { cells }),
  };
}

/** In the order of the table, so that the same row gives the same text. */
function projectedLimits(own: Readonly<Record<string, number>>): ProjectedLimits {
  return Object.fromEntries(PROJECTED_LIMITS.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]])));
}

export function destinationConfig(row: DestinationRow): DestinationConfig {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    sourceId: row.source_id,
    catalog: row.catalog,
    name: row.name,
    enabled: row.enabled,
    ...(row.paused_at === null ? {} : { paused: true }),
    ...(row.resumed_at === null ? {} : { resumedAt: row.resumed_at.toISOString() }),
    ...(row.filters.length === 0 ? {} : { filters: row.filters }),
    settings: row.settings,
    updatedAt: row.updated_at.toISOString(),
  };
}

export function destinationEntry(row: DestinationRow): ConfigEntry {
  const { single, batched } = DESTINATION_FORMATS;
  const v = isBatched(row) ? batched : single;
  return { key: configKey.destination(row.id), value: textOf(destinationConfig(row), v) };
}

function isBatched({ settings }: DestinationRow): boolean {
  const { bodyFormat } = settings as { bodyFormat?: BodyFormat };
  return bodyFormat !== undefined && isBatchFormat(bodyFormat);
}

export function userEntry({ workspace_id: workspaceId, id, marks }: ProjectedUser): ConfigEntry {
  const config: UserConfig = { workspaceId, marks };
  return { key: configKey.user(id), value: textOf(config, FORMATS.user) };
}

/** The version comes last: older processes ignore it, and keep the fields that they know. */
function textOf(config: SourceConfig | DestinationConfig | UserConfig, v: number): string {
  return JSON.stringify({ ...config, v });
}
