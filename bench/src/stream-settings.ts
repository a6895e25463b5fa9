export const STREAM_SETTINGS = {
  replicas: 1,
  eventStreams: 2,
  laneStreams: 2,
  outcomeStreams: 1,
  retentionMs: 259_200_000,
  dedupWindowMs: 600_000,
} as const;
