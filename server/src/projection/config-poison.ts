import type { Stored, Unread } from '../domain/format.ts';
import { readDestinationConfig, readSourceConfig, readUserConfig } from '../domain/read-config.ts';
import { readConfigKey } from '../stream/config/config-bucket.ts';
import { CONFIG_BUCKET } from '../stream/layout/layout.ts';
import type { ConfigWriter } from '../stream/config/config-writer.ts';

/** The entries of the bucket that are not compared with their rows yet: a digest of each, to save memory. */
export type Seen = Map<string, { digest: string; workspaceId: string }>;

export type Poison = { key: string; value: string; revision: number; problem: Unread['problem']; why: string };

/**
 * Moves unreadable entries to quarantine, before their rows replace them. An entry that quarantine does not take, or that a
 * newer control wrote, stays in the bucket.
 */
export async function setAsidePoison(
  poison: readonly Poison[],
  seen: Seen,
  { quarantine, isAuthentic }: Pick<ConfigWriter, 'quarantine' | 'isAuthentic'>,
): Promise<void> {
  for (const { key, value, revision, problem, why } of poison) {
    const from = { stream: `KV_${CONFIG_BUCKET}`, subject: `$KV.${CONFIG_BUCKET}.${key}`, sequence: revision };
    const thing = { kind: 'config', payload: Buffer.from(value), from, why } as const;
    // Only a signed entry of a newer version stays: an attacker without the key must not protect an entry from repair.
    const isLeft = problem === 'newer' && isAuthentic(key, value);
    if (!isLeft && (await quarantine.append(thing)) === 'stored') continue;
    if (isLeft) quarantine.left('config', why);
    seen.set(key, { ...LEFT, workspaceId: '' });
  }
}

/** Compares as equal to every row, so that the entry stays. */
export const LEFT = { digest: '' };

export function readEntry(key: string, value: string): Stored<unknown> | undefined {
  switch (readConfigKey(key)?.kind) {
    case 'source':
      return readSourceConfig(value);
    case 'destination':
      return readDestinationConfig(value);
    case 'user':
      return readUserConfig(value);
    case undefined:
      return undefined;
  }
}
