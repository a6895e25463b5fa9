import { SERIES, type Sample } from './series.ts';

export type DrawnSlice = { minutes: number; samples: readonly Sample[] };

const WIDTH = 340;
const HEIGHT = 90;
const COLUMNS = 3;
const GAP = 24;
const HEAD = 20;
const BOX = HEIGHT + HEAD + GAP;

/** One small plot for each series, from zero to its largest value, all slices one after the other with a line between them. */
export function drawSoak(slices: readonly DrawnSlice[]): string {
  const all = slices.reduce((sum, { minutes }) => sum + minutes, 0);
  const names = Object.keys(SERIES);
  const height = Math.ceil(names.length / COLUMNS) * BOX + GAP;
  const width = COLUMNS * (WIDTH + GAP) + GAP;
  const plots = names.map((name, nth) => {
    const at = { x: GAP + (nth % COLUMNS) * (WIDTH + GAP), y: GAP + Math.floor(nth / COLUMNS) * BOX };
    return `<g transform="translate(${at.x} ${at.y})">${drawSeries(name, slices, all)}</g>`;
  });
  const style = `text{font:12px sans-serif;fill:#57606a}.v{stroke:#0969da;fill:none}.s{stroke:#d0d7de}.b{stroke:#8c959f;fill:none}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="A soak of ${Math.round(all)} minutes">
<style>${style}</style>
<rect width="100%" height="100%" fill="#fff"/>
${plots.join('\n')}
</svg>
`;
}

function drawSeries(name: string, slices: readonly DrawnSlice[], all: number): string {
  const values = slices.flatMap(({ samples }) => samples.flatMap(({ values: each }) => each[name] ?? []));
  const most = Math.max(0, ...values);
  const top = most === 0 ? 1 : most;
  const unit = SERIES[name]?.unit === 'MB' ? ' MB' : '';
  const parts: string[] = [];
  let before = 0;
  for (const { minutes, samples } of slices) {
    const points = samples.flatMap(({ minute, values: each }) => {
      const value = each[name];
      if (value === undefined) return [];
      return [`${px(((before + minute) / all) * WIDTH)},${px(HEAD + HEIGHT - (value / top) * HEIGHT)}`];
    });
    parts.push(`<polyline class="v" points="${points.join(' ')}"/>`);
    before += minutes;
    if (before < all) {
      const x = px((before / all) * WIDTH);
      parts.push(`<path class="s" d="M${x} ${HEAD}V${HEAD + HEIGHT}"/>`);
    }
  }
  const last = values.at(-1) ?? 0;
  return `<text y="12">${name}: most ${most.toLocaleString('en')}${unit}, last ${last.toLocaleString('en')}${unit}</text>
<path class="b" d="M0 ${HEAD}V${HEAD + HEIGHT}H${WIDTH}"/>${parts.join('')}`;
}

function px(value: number): string {
  return value.toFixed(1);
}
