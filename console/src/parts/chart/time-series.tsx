/** One plot over time: bars or lines on one scale, with a box of exact values under the pointer. Nothing animates. */
/* oxlint-disable react/exhaustive-effect-dependencies -- the plot compares its data by content, and another scheme has other colours */
import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef, useState } from 'react';
import UPlot from 'uplot';
import { moment } from '../../format/times.ts';
import { colorOf, heights, plotOptions } from './plot-options.ts';

export type Series = {
  name: string;
  values: readonly (number | null)[];
  /** A CSS variable of the palette: `--delivered-fill`. */
  color: string;
  kind: 'bars' | 'line' | 'area';
  dash?: readonly number[];
  width?: number;
};

/** Something that happened, written into the plot. */
export type Flag = { at: number; words: string };

export type TimeSeriesProps = {
  /** What the plot shows, for those who do not see it. */
  label: string;
  /** The beginning of each step, in seconds since 1970. */
  times: readonly number[];
  series: readonly Series[];
  height: number;
  /** How a value is written, on the axis and in the box. */
  write(value: number): string;
  flags?: readonly Flag[];
  hasTimes?: boolean;
  /** Plots with the same key share their pointer. */
  syncKey?: string;
};

export function TimeSeries(props: TimeSeriesProps) {
  const { label, times, series, height, write } = props;
  const host = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<{ index: number; left: number } | undefined>();
  const scheme = useScheme();
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const options = plotOptions(props, element.clientWidth, (index, left) =>
      setPlace(index === undefined ? undefined : { index, left }),
    );
    const plot = new UPlot(
      options,
      [[...times], ...heights(series, height).toReversed()] as UPlot.AlignedData,
      element,
    );
    const watcher = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: options.height }));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
    // The data is compared by its content: a read that brings the same draws nothing again.
  }, [JSON.stringify(times), JSON.stringify(series), JSON.stringify(props.flags), height, scheme]);
  return (
    <div className="series" ref={host} role="img" aria-label={label}>
      {place !== undefined && times[place.index] !== undefined && (
        <div className={`series-box${place.left > 55 ? ' left' : ''}`} style={{ left: `${place.left}%` }}>
          <b>{moment((times[place.index] ?? 0) * 1_000)}</b>
          {series.map(({ name, values, color }) => (
            <span key={name}>
              <i style={{ background: colorOf(color) }} />
              {name} <b>{written(values[place.index], write)}</b>
            </span>
          ))}
        </div>
      )}
    </div>
  );
}

/** A step without a value is not a step with zero. */
function written(value: number | null | undefined, write: (value: number) => string): string {
  return value === null || value === undefined ? '–' : write(value);
}

/** A canvas does not follow CSS variables by itself: it is drawn again when light becomes dark. */
function useScheme(): string {
  const [scheme, setScheme] = useState(readScheme);
  useEffect(() => {
    const watcher = new MutationObserver(() => setScheme(readScheme()));
    watcher.observe(document.documentElement, { attributeFilter: ['data-mantine-color-scheme'] });
    return () => watcher.disconnect();
  }, []);
  return scheme;
}

function readScheme(): string {
  return document.documentElement.getAttribute('data-mantine-color-scheme') ?? 'light';
}
