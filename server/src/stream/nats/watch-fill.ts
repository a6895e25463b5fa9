import { jetstreamManager, type StreamInfo } from '@nats-io/jetstream';
import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics/open-metrics.ts';
import { openForecast, type StreamSample } from '../layout/forecast.ts';
import type { Connection } from './connect-nats.ts';
import { every } from '../../pause.ts';

export type FillNeeds = {
  connection: Connection;
  /** How long requests that are done are kept; 0 for as long as there is room. */
  retentionMs: number;
  metrics: Metrics;
  log: Logger;
};
export type FillWatch = Disposable & {
  /** Resolves when NATS was asked once more. */
  refresh(): Promise<void>;
};

const REFRESH_MS = 15_000;

/** Shows how full each kind of stream and each bucket is, of several streams of a kind the fullest, and how long the room lasts. */
export function watchFill({ connection, retentionMs, metrics, log }: FillNeeds): FillWatch {
  let bytes = new Map<string, number>();
  let ratios = new Map<string, number>();
  let limits = new Map<string, number>();
  const forecast = openForecast();
  const refresh = async () => {
    try {
      const manager = await jetstreamManager(connection.nc, { checkAPI: false, timeout: 5_000 });
      const streams = await Array.fromAsync(manager.streams.list());
      bytes = byKind(streams, ({ state }) => state.bytes);
      const limited = streams.filter(({ config }) => config.max_bytes > 0);
      ratios = byKind(limited, ({ config, state }) => state.bytes / config.max_bytes);
      limits = sumByKind(limited);
      forecast.see(samplesOf(streams), performance.now());
    } catch (error) {
      log.debug({ error: String(error) }, 'streams.not_listed');
    }
  };
  metrics.gauges('millrace_stream_bytes_max', () => bytes);
  metrics.gauges('millrace_stream_fill_ratio', () => ratios);
  metrics.gauges('millrace_stream_limit_bytes', () => limits);
  metrics.gauges('millrace_stream_full_in_seconds', forecast.fullIn);
  metrics.gauges('millrace_events_kept_seconds', () => keptBy(forecast.keptFor(), retentionMs));
  const timer = every(REFRESH_MS, () => void refresh());
  void refresh();
  return { refresh, [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

function byKind(streams: readonly StreamInfo[], number: (stream: StreamInfo) => number): Map<string, number> {
  const found = new Map<string, number>();
  for (const stream of streams) {
    const kind = kindOf(stream.config.name);
    if (kind !== undefined) found.set(kind, Math.max(found.get(kind) ?? 0, number(stream)));
  }
  return found;
}

function sumByKind(streams: readonly StreamInfo[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const { config } of streams) {
    const kind = kindOf(config.name);
    if (kind !== undefined) found.set(kind, (found.get(kind) ?? 0) + config.max_bytes);
  }
  return found;
}

function samplesOf(streams: readonly StreamInfo[]): StreamSample[] {
  return streams.flatMap(({ config: { name, max_bytes: maxBytes }, state }) => {
    const kind = kindOf(name);
    const { bytes, messages, last_seq: lastSequence } = state;
    return kind === undefined ? [] : [{ name, kind, bytes, maxBytes, messages, lastSequence }];
  });
}

function keptBy(room: number | undefined, retentionMs: number): [string, number][] {
  const setting: [string, number][] = retentionMs === 0 ? [] : [['setting', retentionMs / 1_000]];
  return room === undefined ? setting : [...setting, ['room', room]];
}

const OURS =
  /^(?:(EVENTS|LANES)-\d+|(OUTCOMES)(?:-\d+)?|(TICKETS|DEAD|QUARANTINE|AUDIT)|KV_(config|health|worked|layout|floors))$/;

/** The label for a stream: a known word, whatever else the account holds. */
export function kindOf(stream: string): string | undefined {
  return OURS.exec(stream)
    ?.slice(1)
    .find((part) => part !== undefined)
    ?.toLowerCase();
}
