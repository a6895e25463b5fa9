import { randomBytes } from 'node:crypto';
import { openLog } from '../../../server/src/log.ts';
import { openStream, type Stream } from '../../../server/src/stream/open-stream.ts';
import { STREAM_SETTINGS } from '../stream-settings.ts';
import type { Shop } from './installation.ts';

const CALLS_PER_REQUEST = 50;
const AT_ONCE = 64;

export type CallMaker = (number: number, receivedAt: number) => object;

/** Stores calls in the event streams past collect, as fast as they take them; all were received now. */
export async function appendCalls(
  natsUrl: string,
  { sourceId }: Shop,
  { count, first = 0, call }: { count: number; first?: number; call: CallMaker },
): Promise<void> {
  const log = openLog({ level: 'silent', pretty: false });
  await using stream = await openStream({ natsUrl, settings: STREAM_SETTINGS, log });
  const end = first + count;
  let next = first;
  const work = async () => {
    while (next < end) {
      const from = next;
      next = Math.min(end, next + CALLS_PER_REQUEST);
      const receivedAt = Date.now();
      const calls = Array.from({ length: next - from }, (_, nth) => call(from + nth, receivedAt));
      await append(stream, { sourceId, calls, receivedAt, id: newId() });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

type Request = { sourceId: string; calls: readonly object[]; receivedAt: number; id: string };

async function append(stream: Stream, { sourceId, calls, receivedAt, id }: Request): Promise<void> {
  const envelope = {
    shape: 'batch',
    receivedAt: new Date(receivedAt).toISOString(),
    requestId: id,
    calls: calls.length,
  };
  const home = Number.parseInt(id.slice(0, 8), 16);
  const body = Buffer.from(JSON.stringify({ batch: calls }));
  const appended = await stream.append({ sourceId, id, home, envelope: JSON.stringify(envelope), body });
  if (!appended.ok) throw new Error(appended.why);
}

/** Never one of an earlier part of the bench: the streams would drop the request as a duplicate. */
function newId(): string {
  return randomBytes(16).toString('hex');
}
