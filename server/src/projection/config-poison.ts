import type { Stored, Unread } from '../domain/format.ts';
import { readDestinationConfig, readSourceConfig, readUserConfig } from '../domain/read-config.ts';
import { readConfigKey } from '../stream/config/config-bucket.ts';
import { CONFIG_BUCKET } from '../stream/layout/layout.ts';
import type { ConfigWriter } from '../stream/config/config-writer.ts';

/** What is left of the bucket's entries while the rows are gone through: enough to see a difference, not the entry. */
export type Seen = Map<string, { digest: string; workspaceId: string }>;

export type Poison = { key: string; value: string; revision: number; problem: Unread['problem']; why: string };

/**
 * An entry that nobody can read is kept in quarantine before the row takes its place. One that quarantine does not take, or
 * that a newer control wrote, stays as it is.
 */
export async function setAsidePoison(
  poison: readonly Poison[],
  seen: Seen,
  { quarantine, isAuthentic }: Pick<ConfigWriter, 'quarantine' | 'isAuthentic'>,
): Promise<void> {
  for (const { key, value, revision, problem, why } of poison) {
    const from = { stream: `KV_${CONFIG_BUCKET}`, subject: `$KV.${CONFIG_BUCKET}.${key}`, sequence: revision };
    const thing = { kind: 'config', payload: Buffer.from(value), from, why } as const;
    // Whoever cannot sign cannot have an entry left alone either.
    const isLeft = problem === 'newer' && isAuthentic(key, value);
    if (!isLeft && (await quarantine.append(thing)) === 'stored') continue;
    if (isLeft) quarantine.left('config', why);
    seen.set(key, { ...LEFT, workspaceId: '' });
  }
}

/** Equal to whatever the row says. */
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
