import { connectNats } from '../../../server/src/stream/nats/connect-nats.ts';
import { SILENT } from '../sources.ts';
import { askEngine } from './ask-engine.ts';

export type FillFigures = Record<string, { maxBytes: number; ratio: number }>;

type StreamList = { streams: { config: { name: string; max_bytes: number }; state: { bytes: number } }[] };

/** How full each stream and bucket is that all workspaces share. */
export async function fillFigures(natsUrl: string): Promise<FillFigures> {
  await using connection = await connectNats({ url: natsUrl, name: 'fill', log: SILENT });
  const { streams } = await askEngine<StreamList>(connection, 'STREAM.LIST', '{}');
  const figures = streams.map(({ config: { name, max_bytes: maxBytes }, state }) => {
    const ratio = Math.round((state.bytes / maxBytes) * 1_000) / 1_000;
    return [name.replace('KV_', ''), { maxBytes, ratio }] as const;
  });
  return Object.fromEntries(figures);
}
