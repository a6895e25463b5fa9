import UPlot from 'uplot';
import { short } from '../../format/numbers.ts';
import { day } from '../../format/times.ts';
import type { Flag, Series, TimeSeriesProps } from './time-series.tsx';

const AXIS_FONT = '11px system-ui, sans-serif';
const LEFT_PX = 48;
/** A value above zero is seen: it is at least so high. */
const LEAST_PX = 2;
const TIMES_PX = 26;

export function colorOf(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** The heights to draw: bars stand on those before them, and a value above zero is never invisible. */
export function heights(series: readonly Series[], plotPx: number): (number | null)[][] {
  const highest = highestOf(series);
  const least = (highest * LEAST_PX) / plotPx;
  const seen = (value: number) => (value > 0 ? Math.max(value, least) : 0);
  return series.map((one, place) =>
    one.values.map((value, step) => {
      if (one.kind !== 'bars') return value;
      const below = series.slice(0, place).filter(({ kind }) => kind === 'bars');
      return below.reduce((sum, { values }) => sum + seen(values[step] ?? 0), seen(value ?? 0));
    }),
  );
}

function highestOf(series: readonly Series[]): number {
  const steps = Math.max(0, ...series.map(({ values }) => values.length));
  let highest = 0;
  for (let step = 0; step < steps; step += 1) {
    const bars = series.filter(({ kind }) => kind === 'bars').reduce((sum, { values }) => sum + (values[step] ?? 0), 0);
    highest = Math.max(highest, bars, ...series.map(({ values }) => values[step] ?? 0));
  }
  return highest;
}

/** A round number at or above the highest value, so that the axis has two or three labels. */
export function roundTop(highest: number): number {
  if (highest <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(highest));
  const step = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= highest) ?? 10;
  return Math.max(step * power, 1);
}

type Pointed = (index: number | undefined, leftPercent: number) => void;

export function plotOptions(props: TimeSeriesProps, width: number, pointed: Pointed): UPlot.Options {
  const { times, series, height, write, flags = [], hasTimes = true, syncKey } = props;
  const top = roundTop(highestOf(series));
  const step = (times[1] ?? 0) - (times[0] ?? 0);
  const hasBars = series.some(({ kind }) => kind === 'bars');
  const grid = { stroke: colorOf('--line'), width: 1 };
  return {
    width,
    height: height + (hasTimes ? TIMES_PX : 14),
    padding: [8, 8, hasTimes ? 0 : 6, 0],
    legend: { show: false },
    cursor: {
      points: { show: !hasBars },
      drag: { x: false, y: false },
      y: false,
      ...(syncKey === undefined ? {} : { sync: { key: syncKey } }),
    },
    scales: {
      x: { range: (_plot, from, to) => [from - (hasBars ? step / 2 : 0), to + (hasBars ? step / 2 : 0)] },
      y: { range: [0, top] },
    },
    axes: [
      {
        show: hasTimes,
        font: AXIS_FONT,
        stroke: colorOf('--text-3'),
        grid: { show: false },
        ticks: { show: false },
        size: TIMES_PX,
        space: 90,
        values: (_plot, at) => at.map((second) => axisTime(second, step)),
      },
      {
        font: AXIS_FONT,
        stroke: colorOf('--text-3'),
        grid,
        ticks: { show: false },
        size: LEFT_PX,
        gap: 6,
        splits: () => [0, top / 2, top],
        // Without an axis of times below it, the plot has no room for the label at zero.
        values: (_plot, at) => at.map((value) => (value === 0 && !hasTimes ? '' : (write ?? short)(value))),
      },
    ],
    // uPlot draws the upper bars first: the lower ones cover their lower part.
    series: [{}, ...series.map(drawn).toReversed()],
    hooks: {
      draw: [(plot) => drawFlags(plot, flags)],
      setCursor: [
        ({ cursor, bbox }) => {
          const left = ((cursor.left ?? 0) / (bbox.width / devicePixelRatio)) * 100;
          pointed(cursor.idx ?? undefined, left);
        },
      ],
    },
  };
}

function drawn({ kind, color, dash, width, values }: Series): UPlot.Series {
  const ink = colorOf(color);
  if (kind === 'bars') {
    const paths = UPlot.paths.bars?.({ size: [0.76, 60] });
    return { stroke: ink, fill: ink, width: 0, points: { show: false }, ...(paths === undefined ? {} : { paths }) };
  }
  return {
    stroke: ink,
    width: width ?? 1.5,
    points: { show: true, size: 4, fill: ink, filter: () => lone(values) },
    ...(dash === undefined ? {} : { dash: [...dash] }),
    ...(kind === 'area' ? { fill: colorOf(color.replace('-fill', '-tint')) } : {}),
  };
}

/** The places of values without a neighbour: no line leads to them, so they are dots. */
function lone(values: Series['values']): number[] {
  const isGap = (place: number) => values[place] === null || values[place] === undefined;
  return values.flatMap((_, place) => (!isGap(place) && isGap(place - 1) && isGap(place + 1) ? [place] : []));
}

/** Round local times; the date at midnight. */
function axisTime(second: number, step: number): string {
  const date = new Date(second * 1_000);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  if (isMidnight || step >= 43_200) return day(date);
  return `${String(date.getHours()).padStart(2, '0')}:${String(date.getMinutes()).padStart(2, '0')}`;
}

function drawFlags(plot: UPlot, flags: readonly Flag[]): void {
  const { ctx, bbox } = plot;
  const isNarrow = bbox.width / devicePixelRatio < 420;
  ctx.save();
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  for (const { at, words } of flags.slice(0, 3)) {
    const x = plot.valToPos(at, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = colorOf('--text-3');
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    if (isNarrow) continue;
    ctx.fillStyle = colorOf('--text-2');
    ctx.textAlign = 'right';
    ctx.fillText(words, x - 5 * devicePixelRatio, bbox.top + 10 * devicePixelRatio);
  }
  ctx.restore();
}
