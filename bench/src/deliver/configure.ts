import type { BodyFormat } from '@millrace/contract';
import { CATALOG } from '@millrace/contract/control';
import { openKeyRing } from '../../../server/src/secrets/seal.ts';
import { openEntrySigner } from '../../../server/src/secrets/sign-entry.ts';
import { sealSettings } from '../../../server/src/secrets/sealed-settings.ts';
import { configKey } from '../../../server/src/stream/config/config-bucket.ts';
import type { DestinationConfig } from '../../../server/src/domain/configuration.ts';
import type { Stream } from '../../../server/src/stream/open-stream.ts';
import { secretOf, urlOf } from './scene.ts';

export const KEY = Buffer.alloc(32, 'k');
const WORKSPACE = 'ws_bench';
const AT_ONCE = 1_000;

export const sourceOf = (destination: number): string => `src_${destination}`;

export type Configuration = {
  contender: string;
  count: number;
  port: number;
  /** Destinations of each source; one without this. */
  perSource?: number | undefined;
  bodyFormat?: BodyFormat | undefined;
};

/** Destinations as control writes them to the bucket, each with a source of its own unless said otherwise. */
export async function configure(wanted: Configuration, stream: Stream): Promise<void> {
  const { contender, count, port, perSource = 1, bodyFormat = 'documented' } = wanted;
  const writer = await stream.configWriter(openEntrySigner(new Map([[1, KEY]])));
  for (let start = 0; start < count; start += AT_ONCE) {
    const part = Array.from({ length: Math.min(AT_ONCE, count - start) }, (_, i) => start + i);
    await writer.write(
      part.map((index) => {
        const sourceId = sourceOf(Math.floor(index / perSource));
        const destination = { ...sealed(index, urlOf(contender, index, port), bodyFormat), sourceId };
        return { key: configKey.destination(destination.id), value: JSON.stringify(destination) };
      }),
    );
  }
}

const keyRing = openKeyRing(new Map([[1, KEY]]));

function sealed(index: number, url: string, bodyFormat: BodyFormat): Omit<DestinationConfig, 'sourceId'> {
  const [entry] = CATALOG;
  if (entry === undefined) throw new Error('the catalog is empty');
  const id = `dst_${index}`;
  const value = { targets: [{ url }], sharedSecret: secretOf(index), bodyFormat };
  const owner = { workspaceId: WORKSPACE, destinationId: id };
  return {
    id,
    workspaceId: WORKSPACE,
    catalog: entry.name,
    name: id,
    enabled: true,
    settings: sealSettings(entry, { value, kept: new Map() }, { owner, keyRing }),
    updatedAt: '2026-11-15T10:00:00.000Z',
  };
}
