import type { Logger } from '../log.ts';
import { appendRequest, type Appended, type RequestToAppend } from './append-request.ts';
import { openConfigView, type ConfigView } from './config-bucket.ts';
import { openConfigWriter, type ConfigWriter } from './config-writer.ts';
import { connectNats } from './connect-nats.ts';
import { ensureLayout } from './ensure-layout.ts';
import { type DeliverySide, openDeliverySide } from './open-delivery-side.ts';
import { openEventStreams } from './event-streams.ts';
import type { StreamSettings } from './layout.ts';
import { probeStreams } from './probe-streams.ts';
import { openPublisher } from './publish.ts';
import { onSeen, type Sighting, tellSeen } from './sightings.ts';

export type Stream = AsyncDisposable & {
  append(request: RequestToAppend): Promise<Appended>;
  /** Whether an append would be tried now. */
  isAvailable(): boolean;
  configWriter(): Promise<ConfigWriter>;
  configView(): Promise<ConfigView>;
  deliverySide(): Promise<DeliverySide>;
  tellSeen(sighting: Sighting): void;
  onSeen(seen: (sighting: Sighting) => void): Disposable;
};

export type StreamNeeds = { natsUrl: string; settings: StreamSettings; log: Logger };

/** Opens the engine: everything in the layout exists and keeps its promises, or this throws and says which one not. */
export async function openStream({ natsUrl, settings, log }: StreamNeeds): Promise<Stream> {
  await using opening = new AsyncDisposableStack();
  const publishing = opening.use(await connectNats({ url: natsUrl, name: 'millrace-publish', log }));
  const watching = opening.use(await connectNats({ url: natsUrl, name: 'millrace-watch', log }));
  await ensureLayout(watching, settings);
  const publisher = opening.use(openPublisher(publishing));
  const events = opening.use(
    openEventStreams({ connection: publishing, publisher, count: settings.eventStreams, log }),
  );
  opening.use(probeStreams({ connection: publishing, streams: events.streams, log }));
  const open = opening.move();
  return {
    append: (request) => appendRequest(request, { connection: publishing, events, log }),
    isAvailable: () => publishing.isConnected() && events.streams.some((stream) => stream.trouble === undefined),
    configWriter: async () =>
      openConfigWriter({
        publishing,
        publisher,
        connect: () => connectNats({ url: natsUrl, name: 'millrace-compare', log }),
      }),
    configView: () => openConfigView(watching, log),
    deliverySide: () => openDeliverySide({ natsUrl, settings, log }),
    tellSeen: (sighting) => tellSeen(watching, sighting),
    onSeen: (seen) => onSeen(watching, seen),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
