/** Delivered above; given up and retried below on a scale of their own, so that 0.3 % is visible. The legend is the switch. */
import { useState } from 'react';
import { count, short } from '../../format/numbers.ts';
import { type Flag, TimeSeries } from './time-series.tsx';

export type OutcomePoint = {
  at: string;
  delivered: number;
  retry: number;
  discarded: number;
  expired: number;
  skipped: number;
};

type OutcomeChartProps = {
  points: readonly OutcomePoint[];
  from: string;
  to: string;
  /** In seconds. */
  step: number;
  flags?: readonly Flag[];
};

const KINDS = [
  { key: 'delivered', name: 'Delivered', color: '--delivered-fill', isTrouble: false },
  { key: 'givenup', name: 'Given up', color: '--givenup-fill', isTrouble: true },
  { key: 'retrying', name: 'Attempts retried', color: '--retrying-fill', isTrouble: true },
  { key: 'skipped', name: 'Skipped', color: '--skipped-fill', isTrouble: false },
] as const;
type Kind = (typeof KINDS)[number]['key'];

export function useOutcomeChart(props: OutcomeChartProps) {
  const [off, setOff] = useState<ReadonlySet<Kind>>(new Set<Kind>(['skipped']));
  const { times, values } = everyStep(props);
  const flip = (kind: Kind) => {
    const next = new Set(off);
    if (!next.delete(kind)) next.add(kind);
    setOff(next);
  };
  const legend = (
    <div className="legend">
      {KINDS.map(({ key, name }) => (
        <button type="button" key={key} aria-pressed={!off.has(key)} onClick={() => flip(key)}>
          <i className={`dot ${key}`} />
          {name} <b>{count(values[key].reduce((sum, value) => sum + value, 0))}</b>
        </button>
      ))}
    </div>
  );
  const shown = (isTrouble: boolean) =>
    KINDS.filter((kind) => kind.isTrouble === isTrouble && !off.has(kind.key)).map(({ key, name, color }) => ({
      name,
      color,
      values: values[key],
      kind: 'bars' as const,
    }));
  const flags = props.flags ?? [];
  const chart = (
    <div className="chart">
      <TimeSeries
        label={`Delivered per ${stepWords(props.step)}`}
        times={times}
        series={shown(false)}
        height={112}
        write={short}
        flags={flags}
        hasTimes={false}
        syncKey="outcomes"
      />
      <span className="plab">Delivered, per {stepWords(props.step)}</span>
      <TimeSeries
        label={`Given up and retried per ${stepWords(props.step)}`}
        times={times}
        series={shown(true)}
        height={52}
        write={short}
        flags={flags.map(({ at }) => ({ at, words: '' }))}
        syncKey="outcomes"
      />
      <span className="plab second">Given up and retried, own scale</span>
    </div>
  );
  return { legend, chart };
}

/** The API leaves out steps in which nothing happened. */
function everyStep({ points, from, to, step }: OutcomeChartProps) {
  const first = Math.floor(Date.parse(from) / 1_000 / step) * step;
  const last = Math.floor((Date.parse(to) / 1_000 - 1) / step) * step;
  const byTime = new Map(points.map((point) => [Math.floor(Date.parse(point.at) / 1_000), point]));
  const times = Array.from({ length: Math.max(1, (last - first) / step + 1) }, (_, place) => first + place * step);
  const take = (read: (point: OutcomePoint) => number) =>
    times.map((time) => {
      const point = byTime.get(time);
      return point === undefined ? 0 : read(point);
    });
  return {
    times,
    values: {
      delivered: take(({ delivered }) => delivered),
      givenup: take(({ discarded, expired }) => discarded + expired),
      retrying: take(({ retry }) => retry),
      skipped: take(({ skipped }) => skipped),
    },
  };
}

function stepWords(step: number): string {
  if (step < 3_600) return `${step / 60} min`;
  return step === 3_600 ? 'hour' : `${step / 3_600} hours`;
}
