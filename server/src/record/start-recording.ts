import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import type { Store } from '../store/open-store.ts';
import type { RecordSide } from '../stream/open-record-side.ts';
import { startCountingUsage } from './count-usage.ts';
import { keepPartitions } from './keep-partitions.ts';
import { recordDepths } from './record-depths.ts';
import { startRecorder } from './record-outcomes.ts';
import type { RecordSettings } from './record-settings.ts';

export type RecordingNeeds = {
  store: Store;
  side: RecordSide;
  settings: RecordSettings;
  metrics?: Metrics;
  log: Logger;
};

/** Everything that writes the record. */
export function startRecording({ store, side, settings, metrics, log }: RecordingNeeds): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  const needs = { store, settings, now: () => new Date(side.now()), log };
  stack.use(keepPartitions(needs));
  const recorder = stack.use(startRecorder({ ...needs, side }));
  metrics?.gauge('millrace_recorder_lag_seconds', recorder.lagSeconds);
  stack.use(recordDepths({ ...needs, lanes: side.lanes }));
  stack.use(startCountingUsage({ store, usage: side.usage, log }));
  return stack;
}
