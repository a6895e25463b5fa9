/** How much the streams and buckets hold, and how long their room lasts. */
import type { Declared } from './declared-type.ts';

export const STORAGE_METRICS = {
  millrace_stream_fill_ratio: {
    kind: 'gauge',
    label: 'stream',
    help: 'How full the streams and buckets of a kind are: the fullest, as a part of its limit',
  },
  millrace_stream_bytes_max: {
    kind: 'gauge',
    label: 'stream',
    help: 'Bytes in the largest stream or bucket of a kind',
  },
  millrace_stream_limit_bytes: {
    kind: 'gauge',
    label: 'stream',
    help: 'Bytes that the streams and buckets of a kind may hold together',
  },
  millrace_stream_full_in_seconds: {
    kind: 'gauge',
    label: 'stream',
    help: 'When the first stream of a kind is full at the growth of the last hour; only for kinds that grow, and not for events',
  },
  millrace_events_kept_seconds: {
    kind: 'gauge',
    label: 'by',
    help: 'How long events stay for replays: by MILLRACE_RETENTION, and by the room at the rate of the last hour',
  },
} as const satisfies Record<string, Declared>;
