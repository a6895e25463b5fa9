/** Appends a backlog to the event streams, past collect, as fast as deliver takes it. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, connectNats } from '../../../server/src/stream/nats/connect-nats.ts';
import { openStream } from '../../../server/src/stream/open-stream.ts';
import { SILENT, streamSettings } from '../sources.ts';
import { countUnsettled } from './ask-engine.ts';
import { markedCall } from './marked-call.ts';
import type { PlannedSource } from './plan-workspaces.ts';

/** `prefix` begins the ids of its calls. */
export type BacklogOrder = { natsUrl: string; source: PlannedSource; size: number; prefix: string };

const EVENTS_PER_REQUEST = 2_500;
/** More, and all other events would wait behind them: a stream is read in order. */
const MOST_UNSETTLED = 4;
const LOOK_MS = 5;

process.once('message', (order: BacklogOrder) => {
  void build(order).then(() => process.disconnect());
});

async function build({ natsUrl, source, size, prefix }: BacklogOrder): Promise<void> {
  const settings = streamSettings({ replicas: 1, eventStreams: 2 });
  await using connection = await connectNats({ url: natsUrl, name: 'faults', log: SILENT });
  await using stream = await openStream({ natsUrl, settings, log: SILENT });
  for (let start = 0; start < size; start += EVENTS_PER_REQUEST) {
    const length = Math.min(EVENTS_PER_REQUEST, size - start);
    const batch = Array.from({ length }, (_, index) => markedCall(source, `${prefix}${start + index}`));
    const id = randomUUID();
    const envelope = JSON.stringify({ shape: 'batch', receivedAt: new Date().toISOString(), requestId: id });
    const body = Buffer.from(JSON.stringify({ batch }));
    const stored = await stream.append({ sourceId: source.id, id, home: start / EVENTS_PER_REQUEST, envelope, body });
    if (!stored.ok) throw new Error(stored.why);
    await settled(connection, MOST_UNSETTLED);
  }
  // Events still on their way to the lane when the receiver comes back would be new to it, in their thousands.
  await settled(connection, 0);
}

async function settled(connection: Connection, most: number): Promise<void> {
  while ((await countUnsettled(connection)) > most) await sleep(LOOK_MS);
}
