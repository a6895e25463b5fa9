/**
 * How long the room lasts at the rate of the last hour. Streams that only shrink by being worked off are full some day when they grow. The
 * event streams never are while deliver works, because the oldest requests go: for them it is how long a request stays.
 */

export type StreamSample = {
  name: string;
  kind: string;
  bytes: number;
  /** Not above zero when there is no limit. */
  maxBytes: number;
  messages: number;
  lastSequence: number;
};

export type Forecast = {
  see(samples: readonly StreamSample[], nowMs: number): void;
  /** Seconds until the first stream of a kind is full, for kinds that grow. */
  fullIn(): Map<string, number>;
  /** Seconds that a request stays in the event streams before it goes to make room; undefined while none come. */
  keptFor(): number | undefined;
};

type Seen = { at: number; byName: Map<string, StreamSample> };

const WINDOW_MS = 3_600_000;
/** A shorter time tells of a burst and not of a rate. */
const LEAST_MS = 600_000;
/** The part of its limit above which an event stream is trimmed. */
const TRIMMED_ABOVE = 0.7;
const EVENTS = 'events';

export function openForecast(): Forecast {
  let seen: Seen[] = [];
  /** Streams as they are and as they were at the begin of the window. */
  const pairs = () => {
    const [first, last] = [seen[0], seen.at(-1)];
    if (first === undefined || last === undefined || last.at - first.at < LEAST_MS) return { seconds: 0, streams: [] };
    const streams = [...last.byName.values()].flatMap((now) => {
      const before = first.byName.get(now.name);
      return before === undefined ? [] : [{ now, before }];
    });
    return { seconds: (last.at - first.at) / 1_000, streams };
  };
  return {
    see(samples, nowMs) {
      seen = [...seen.filter(({ at }) => nowMs - at <= WINDOW_MS), { at: nowMs, byName: byName(samples) }];
    },
    fullIn() {
      const { seconds, streams } = pairs();
      const found = new Map<string, number>();
      for (const { now, before } of streams) {
        const { kind, bytes, maxBytes } = now;
        const perSecond = (bytes - before.bytes) / seconds;
        if (kind === EVENTS || maxBytes <= 0 || perSecond <= 0) continue;
        const left = Math.max(0, maxBytes - bytes) / perSecond;
        found.set(kind, Math.min(left, found.get(kind) ?? Infinity));
      }
      return found;
    },
    keptFor() {
      const { seconds, streams } = pairs();
      const events = streams.filter(({ now }) => now.kind === EVENTS);
      const perSecond = events.reduce((all, each) => all + storedBytes(each.now, each.before), 0) / seconds;
      if (!(perSecond > 0)) return undefined;
      return (events.reduce((all, { now }) => all + now.maxBytes, 0) * TRIMMED_ABOVE) / perSecond;
    },
  };
}

/** The bytes that came since, also of requests that went meanwhile: by the average size of those that are there. */
function storedBytes(now: StreamSample, before: StreamSample): number {
  const count = now.lastSequence - before.lastSequence;
  return count > 0 && now.messages > 0 ? (count * now.bytes) / now.messages : 0;
}

function byName(samples: readonly StreamSample[]): Map<string, StreamSample> {
  return new Map(samples.map((sample) => [sample.name, sample]));
}
