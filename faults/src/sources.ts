import { createHash } from 'node:crypto';
import { openLog } from '../../server/src/log.ts';
import type { StreamSettings } from '../../server/src/stream/layout.ts';
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

/**
 * Enters the sources the way control does, which also makes every stream.
 * A second after a start the servers close their surplus routes and count as offline for a moment; then it is tried again.
 */
export async function putSources(natsUrl: string, replicas: 1 | 3, eventStreams: number): Promise<void> {
  const settings: StreamSettings = {
    replicas,
    eventStreams,
    laneStreams: 2,
    retentionMs: 72 * HOUR_MS,
    dedupWindowMs: HOUR_MS / 6,
  };
  let lastError: unknown;
  const isPut = () =>
    putAll(natsUrl, settings).then(
      () => true,
      (error: unknown) => {
        lastError = error;
        return false;
      },
    );
  await waitUntil('the sources are entered', PUT_WITHIN_MS, isPut).catch((error: unknown) => {
    throw lastError ?? error;
  });
}

async function putAll(natsUrl: string, settings: StreamSettings): Promise<void> {
  await using stream = await openStream({ natsUrl, settings, log: openLog({ level: 'silent', pretty: false }) });
  const writer = await stream.configWriter();
  for (const { id, writeKey } of SOURCES) {
    const writeKeyHashes = [createHash('sha256').update(writeKey).digest('hex')];
    await writer.putSource({ id, workspaceId: 'ws_faults', name: id, enabled: true, writeKeyHashes });
  }
}
