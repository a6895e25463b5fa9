import type { StreamSettings } from '../src/stream/layout/layout.ts';

/** The smallest set of streams: one of each kind, on one server. */
export const STREAM_SETTINGS: Readonly<StreamSettings> = {
  replicas: 1,
  eventStreams: 1,
  laneStreams: 1,
  outcomeStreams: 1,
  retentionMs: 3_600_000,
  dedupWindowMs: 60_000,
};
