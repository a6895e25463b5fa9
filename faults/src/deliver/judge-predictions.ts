import { trueOnes } from '../complaints.ts';
import type { Findings } from '../run-fault.ts';

/** At this moment, the API predicted when the lane would be clear. */
export type Prediction = { at: number; clearInMs: number };

export type Drain = {
  startedAt: number;
  clearedAt: number;
  predictions: readonly Prediction[];
  /** As a share of the remaining time. On a machine whose speed changes by the second, predictions are worse. */
  maxError?: number;
};

const PROMISED_ERROR = 0.3;
/** At the very beginning nothing is known yet; near the end a share of what is left says nothing. */
const JUDGED = { from: 0.1, notBeforeMs: 3_000, to: 0.75 };

/** Compares the predicted times to clear with the time that it took. */
export function judgePredictions({ startedAt, clearedAt, predictions, maxError = PROMISED_ERROR }: Drain): Findings {
  const lengthMs = clearedAt - startedAt;
  const from = startedAt + Math.max(JUDGED.from * lengthMs, JUDGED.notBeforeMs);
  const judged = predictions
    .filter(({ at }) => at >= from && at < startedAt + JUDGED.to * lengthMs)
    .map(({ at, clearInMs }) => ({ leftMs: clearedAt - at, clearInMs }));
  const errors = judged.map(({ leftMs, clearInMs }) => Math.abs(clearInMs - leftMs) / leftMs).sort((a, b) => a - b);
  const worst = errors.at(-1);
  const bad = errors.filter((error) => error > maxError);
  return {
    failures: trueOnes([[judged.length === 0, 'nobody was told when the lane would be clear']]),
    late: trueOnes([
      [bad.length > 0, `${bad.length} of ${judged.length} predictions were off by more than ${percent(maxError)} %`],
    ]),
    figures: {
      predictions: judged.length,
      medianErrorPercent: percent(errors[Math.floor(errors.length / 2)]),
      worstErrorPercent: percent(worst),
      told: predictions.map(({ at, clearInMs }) => `after ${seconds(at - startedAt)}: in ${seconds(clearInMs)}`),
      cleared: `after ${seconds(lengthMs)}`,
    },
  };
}

function percent(share: number | undefined): number | undefined {
  return share === undefined ? undefined : Math.round(share * 100);
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
