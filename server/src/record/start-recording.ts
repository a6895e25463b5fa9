import { MAIN_CELL, nameInCell } from '../domain/configuration.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import type { Store } from '../store/open-store.ts';
import type { RecordSide } from '../stream/open-record-side.ts';
import { startCountingUsage } from './count-usage.ts';
import { keepPartitions } from './keep-partitions.ts';
import { recordDepths } from './record-depths.ts';
import { type SharedRecording, startRecorders } from './record-streams.ts';
import type { RecordSettings } from './record-settings.ts';

export type RecordingNeeds = {
  store: Store;
  side: RecordSide;
  settings: RecordSettings;
  /** With the recording of other cells. */
  shared?: SharedRecording;
  /** The lanes of all cells; by default those of this one. */
  lanes?: Pick<RecordSide['lanes'], 'all'>;
  metrics?: Metrics;
  log: Logger;
};

/** Everything that writes the record of a cell, `main` by default. */
export type CellRecordingNeeds = Omit<RecordingNeeds, 'lanes'> & { cell?: string };

export type CellRecording = AsyncDisposable & { lagSeconds(): number };

/** Everything that writes the record, with that of `main`. */
export function startRecording({ lanes, ...given }: RecordingNeeds): AsyncDisposable {
  const { store, side, settings, metrics, log } = given;
  const stack = new AsyncDisposableStack();
  const needs = { store, settings, now: () => new Date(side.now()), log };
  stack.use(keepPartitions(needs));
  const recording = stack.use(recordCell(given));
  metrics?.gauge('millrace_recorder_lag_seconds', recording.lagSeconds);
  stack.use(recordDepths({ ...needs, lanes: lanes ?? side.lanes }));
  return stack;
}

/** Outcomes and usage of one cell. */
export function recordCell({ cell = MAIN_CELL, ...needs }: CellRecordingNeeds): CellRecording {
  const { store, side, settings, shared, metrics, log } = needs;
  const stack = new AsyncDisposableStack();
  const now = () => new Date(side.now());
  const recorded = metrics?.counter('millrace_outcomes_recorded_total');
  const { lagSeconds } = stack.use(startRecorders({ store, settings, now, log, side, shared, recorded }));
  const usage = async () =>
    (await side.usage()).map((reader) => ({ ...reader, stream: nameInCell(cell, reader.stream) }));
  stack.use(startCountingUsage({ store, usage, log }));
  return { lagSeconds, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
