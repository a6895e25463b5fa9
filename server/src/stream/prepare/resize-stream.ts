import { JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';

/** Smaller differences are not worth a change of the stream. */
const WORTH_IT = 0.01;
/** NATS: insufficient storage resources available. */
const NO_ROOM = 10_047;
const STEPS = 6;

/** Whether a limit should become another one. Limits not above zero are none. */
export function isOtherSize(fromBytes: number, toBytes: number): boolean {
  if (fromBytes <= 0 || toBytes <= 0) return fromBytes > 0 !== toBytes > 0;
  return Math.abs(toBytes - fromBytes) > fromBytes * WORTH_IT;
}

/**
 * Changes the limit of a stream; resolves with the limit that it has then. NATS takes a change only if it fits the server that leads the
 * cluster, even if that server does not hold the stream at all, so a refused increase is tried in smaller steps. While a server leads that
 * has promised more than it has, no limit can be changed, not even to a smaller one.
 */
export async function resizeStream(
  manager: JetStreamManager,
  { name, maxBytes }: { name: string; maxBytes: number },
  toBytes: number,
): Promise<number> {
  let reached = maxBytes;
  let step = toBytes - maxBytes;
  for (let tried = 0; tried < STEPS && reached !== toBytes; tried += 1) {
    const next = step > 0 ? Math.min(toBytes, reached + Math.ceil(step)) : toBytes;
    try {
      await manager.streams.update(name, { max_bytes: next });
      reached = next;
    } catch (error) {
      if (!isNoRoom(error)) throw error;
      if (step <= 0) break;
      step /= 2;
    }
  }
  return reached;
}

function isNoRoom(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === NO_ROOM;
}
