import { createHash } from 'node:crypto';
import { openLog } from '../../server/src/log.ts';
import { openEntrySigner } from '../../server/src/secrets/sign-entry.ts';
import type { SourceConfig } from '../../server/src/domain/configuration.ts';
import type { ConfigWriter } from '../../server/src/stream/config/config-writer.ts';
import type { StreamSettings } from '../../server/src/stream/layout/layout.ts';
import { openStream } from '../../server/src/stream/open-stream.ts';
import { waitUntil } from './wait-until.ts';

export type Source = { id: string; writeKey: string };

export const SOURCES: readonly [Source, ...Source[]] = [
  { id: 'src_fault1', writeKey: 'fault-key-1' },
  { id: 'src_fault2', writeKey: 'fault-key-2' },
  { id: 'src_fault3', writeKey: 'fault-key-3' },
  { id: 'src_fault4', writeKey: 'fault-key-4' },
];

const HOUR_MS = 3_600_000;
const PUT_WITHIN_MS = 20_000;

/** Enters the sources the way control does, which also makes every stream. */
export function putSources(natsUrl: string, replicas: 1 | 3, eventStreams: number): Promise<void> {
  return writeConfig(natsUrl, { replicas, eventStreams }, async (writer) => {
    for (const source of SOURCES) await writer.putSource(sourceConfig(source, 'ws_faults'));
  });
}

export function sourceConfig({ id, writeKey }: Source, workspaceId: string): SourceConfig {
  const writeKeyHashes = [createHash('sha256').update(writeKey).digest('hex')];
  return { id, workspaceId, name: id, enabled: true, writeKeyHashes };
}

/** A second after a start the servers close their surplus routes and count as offline for a moment; then it is tried again. */
export async function writeConfig(
  natsUrl: string,
  { keys, ...size }: Pick<StreamSettings, 'replicas' | 'eventStreams'> & { keys?: ReadonlyMap<number, Buffer> },
  write: (writer: ConfigWriter) => Promise<void>,
): Promise<void> {
  let lastError: unknown;
  const isPut = async () => {
    try {
      await using stream = await openStream({ natsUrl, settings: streamSettings(size), log: SILENT });
      await write(await stream.configWriter(keys && openEntrySigner(keys)));
      return true;
    } catch (error) {
      lastError = error;
      return false;
    }
  };
  await waitUntil('the configuration is entered', PUT_WITHIN_MS, isPut).catch((error: unknown) => {
    throw lastError ?? error;
  });
}

export const SILENT = openLog({ level: 'silent', pretty: false });

export function streamSettings(size: Pick<StreamSettings, 'replicas' | 'eventStreams'>): StreamSettings {
  return { ...size, laneStreams: 2, outcomeStreams: 1, retentionMs: 72 * HOUR_MS, dedupWindowMs: HOUR_MS / 6 };
}
