import { hash } from 'node:crypto';
import { CATALOG } from '@millrace/contract/control';
import type { DestinationConfig, SourceConfig } from '../../../server/src/domain/configuration.ts';
import { openKeyRing } from '../../../server/src/secrets/seal.ts';
import { sealSettings } from '../../../server/src/secrets/sealed-settings.ts';
import { openEntrySigner } from '../../../server/src/secrets/sign-entry.ts';
import { configKey } from '../../../server/src/stream/config/config-bucket.ts';
import {
  type ConfigChange,
  ConfigNotWritten,
  type ConfigWriter,
} from '../../../server/src/stream/config/config-writer.ts';
import { KEY, sourceOf } from '../deliver/configure.ts';
import { secretOf, urlOf } from '../deliver/scene.ts';

/** `active` are the destinations that get events, each with a source of its own; the others share the sources. */
export type Filling = { contender: string; port: number; destinations: number; sources: number; active: number[] };

const AT_ONCE = 1_000;
const keys = new Map([[1, KEY]]);
const keyRing = openKeyRing(keys);
export const signer = openEntrySigner(keys);

/** As long as the ids that control makes. */
export const longId = (prefix: string, index: number): string => `${prefix}_${String(index).padStart(32, '0')}`;
export const quietSource = (index: number): string => longId('src', index);

export async function fillBucket(filling: Filling, writer: ConfigWriter): Promise<void> {
  const active = new Set(filling.active);
  for (let start = 0; start < filling.sources; start += AT_ONCE) {
    await write(
      range(start, filling.sources).map((index) => sourceChange(index)),
      writer,
    );
  }
  for (let start = 0; start < filling.destinations; start += AT_ONCE) {
    await write(
      range(start, filling.destinations).map((index) => {
        const sourceId = active.has(index) ? sourceOf(index) : quietSource(index % filling.sources);
        return destinationChange(index, { ...filling, sourceId });
      }),
      writer,
    );
  }
}

/** On a busy machine NATS may take longer than the writer waits: control would try again, too. */
async function write(changes: ConfigChange[], writer: ConfigWriter): Promise<void> {
  for (;;) {
    try {
      const [refusal] = await writer.write(changes);
      if (refusal !== undefined) throw new Error(refusal.why);
      return;
    } catch (error) {
      if (!(error instanceof ConfigNotWritten)) throw error;
    }
  }
}

function range(start: number, end: number): number[] {
  return Array.from({ length: Math.min(AT_ONCE, end - start) }, (_, nth) => start + nth);
}

export function sourceChange(index: number, name = 'Web shop') {
  const id = quietSource(index);
  const config: SourceConfig = {
    id,
    workspaceId: longId('ws', index % 1_000),
    name,
    enabled: true,
    writeKeyHashes: [hash('sha256', id)],
  };
  return { key: configKey.source(id), value: JSON.stringify({ ...config, v: 1 }) };
}

type Placed = Pick<Filling, 'contender' | 'port'> & { sourceId: string; name?: string };

/** A webhook with a secret and a secret header: about 650 bytes. */
export function destinationChange(index: number, { contender, port, sourceId, name = 'Webhooks' }: Placed) {
  const [entry] = CATALOG;
  if (entry === undefined) throw new Error('the catalog is empty');
  const id = longId('dst', index);
  const workspaceId = longId('ws', index % 1_000);
  const headers = { Authorization: hash('sha256', id).slice(0, 32) };
  const value = { targets: [{ url: urlOf(contender, index, port), headers }], sharedSecret: secretOf(index) };
  const owner = { workspaceId, destinationId: id };
  const settings = sealSettings(entry, { value, kept: new Map() }, { owner, keyRing });
  const kind = { id, workspaceId, sourceId, catalog: entry.name, name, enabled: true };
  const config: DestinationConfig = { ...kind, settings, updatedAt: '2026-11-15T10:00:00.000Z' };
  return { key: configKey.destination(id), value: JSON.stringify({ ...config, v: 1 }) };
}
