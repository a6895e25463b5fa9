/**
 * Limits the configuration of a source, a destination and a workspace. Every process that collects or delivers holds all
 * configuration in memory, and the config bucket has a fixed size. A workspace may take three quarters of the room that the
 * others leave, so it never fills the bucket, and the next workspace still finds room.
 */
import type { Logger } from '../../log.ts';
import { configBytes } from '../../store/config-sizes.ts';
import type { Store, Tx } from '../../store/open-store.ts';
import { destinationsToProject, sourcesToProject } from '../../store/projection.ts';
import type { ConfigRoom } from '../../stream/config/config-writer.ts';
import { destinationEntry, sourceEntry } from '../../projection/config-entries.ts';
import type { WorkspaceLimits } from '../limits/workspace-limits.ts';
import { ApiProblem } from '../problems/problems.ts';
import { usableBytes } from '../../projection/write-changes.ts';

/** One destination is its URLs, headers and filters; one source its keys and blocked events. */
export const MAX_ENTRY_BYTES = 131_072;
const SHARE = 0.75;
const FRESH_MS = 15_000;
/** Below this part of the limit an estimate is good enough: counting 100,000 destinations takes a quarter of a second. */
const COUNT_FROM = 0.8;

export type LimitsNeeds = {
  store: Store;
  configRoom(): Promise<ConfigRoom>;
  /** The numbers that the operator set; without them only the share holds. */
  limits?: Pick<WorkspaceLimits, 'of' | 'refusal'>;
  log: Logger;
};

export type ConfigLimits = {
  /** Throws a problem when the workspace exceeds its limit. `addedBytes` is the most that the change can have added. */
  check(tx: Tx, workspaceId: string, addedBytes: number): Promise<void>;
};

export function workspaceLimit({ maxBytes, others }: { maxBytes: number; others: number }): number {
  return Math.max(0, Math.floor((usableBytes(maxBytes) - others) * SHARE));
}

type Sample = { maxBytes: number; byWorkspace: Map<string, number>; estimates: Map<string, number> };

/**
 * The workspace's own bytes are estimated from the last count and the additions since, and near the limit counted in the
 * transaction of the change. The bytes of the others come from a count that is some seconds old. That count runs in the
 * background and is never awaited: a transaction that waits for another one can deadlock. Before the first count, the projector
 * alone decides which entries fit.
 */
export function openConfigLimits({ store, configRoom, limits, log }: LimitsNeeds): ConfigLimits {
  let sample: Sample | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  const refresh = async (): Promise<void> => {
    if (performance.now() - askedAt < FRESH_MS) return;
    askedAt = performance.now();
    try {
      const { maxBytes } = await configRoom();
      const byWorkspace = await store.asSystem((tx) => configBytes(tx));
      sample = { maxBytes, byWorkspace, estimates: new Map(byWorkspace) };
    } catch (error) {
      log.warn({ error: String(error) }, 'config_room.unknown');
    }
  };
  void refresh();
  return {
    async check(tx, workspaceId, addedBytes) {
      void refresh();
      const most = limits?.of(workspaceId).configBytes;
      const maxBytes = Math.min(most ?? Infinity, sample === undefined ? Infinity : shareOf(sample, workspaceId));
      if (maxBytes === Infinity) return;
      const estimates = sample?.estimates;
      const estimate = (estimates?.get(workspaceId) ?? 0) + addedBytes;
      estimates?.set(workspaceId, estimate);
      if (estimates !== undefined && estimate <= maxBytes * COUNT_FROM) return;
      const bytes = (await configBytes(tx, workspaceId)).get(workspaceId) ?? 0;
      estimates?.set(workspaceId, bytes);
      if (bytes <= maxBytes) return;
      if (limits !== undefined && maxBytes === most)
        throw limits.refusal('configBytes', most, 'configuration_too_large');
      throw tooLarge(`the workspace would have ${bytes} bytes of configuration, and may have ${maxBytes} now`);
    },
  };
}

function shareOf({ maxBytes, byWorkspace }: Sample, workspaceId: string): number {
  const others = byWorkspace.entries().reduce((sum, [id, each]) => (id === workspaceId ? sum : sum + each), 0);
  return workspaceLimit({ maxBytes, others });
}

/** The size of the entry in the bucket; throws a problem when it is too large. */
export async function checkEntry(tx: Tx, kind: 'source' | 'destination', id: string): Promise<number> {
  const [source] = kind === 'source' ? await sourcesToProject(tx, [id]) : [];
  const [destination] = kind === 'destination' ? await destinationsToProject(tx, [id]) : [];
  const value = source ? sourceEntry(source).value : destination ? destinationEntry(destination).value : '';
  const bytes = Buffer.byteLength(value);
  if (bytes <= MAX_ENTRY_BYTES) return bytes;
  const parts = kind === 'source' ? 'keys and blocked events' : 'URLs, headers and filters';
  throw tooLarge(`the ${kind} would have ${bytes} bytes of ${parts}, and may have ${MAX_ENTRY_BYTES}`);
}

function tooLarge(message: string): ApiProblem {
  return new ApiProblem('configuration_too_large', [{ path: '/', message }]);
}
