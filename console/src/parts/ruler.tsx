/** Four hours from the first attempt to the end, on a logarithmic scale: the first minutes are wide, the last hours narrow. */
import { useNow } from './use-now.ts';
import { duration, moment } from '../format/times.ts';
import { StateMark, type StateName } from './state-mark.tsx';

/** A point without a label is only a mark. */
export type RulerPoint = { at: number; state: StateName | 'planned'; label: string; detail?: string };

const FOUR_HOURS_MS = 14_400_000;
/** The unit of the logarithm: below it the scale is about even. */
const UNIT_MS = 2_000;
const LEFT_OUT_PERCENT = 6;

export function placeOnRuler(sinceFirstMs: number, wholeMs = FOUR_HOURS_MS): number {
  const clamped = Math.min(Math.max(sinceFirstMs, 0), wholeMs);
  return (100 * Math.log1p(clamped / UNIT_MS)) / Math.log1p(wholeMs / UNIT_MS);
}

type RulerProps = { points: readonly RulerPoint[]; firstAt: number; endsAt: number; isOver: boolean };

export function Ruler({ points, firstAt, endsAt, isOver }: RulerProps) {
  const now = useNow(1_000);
  const wholeMs = Math.max(endsAt - firstAt, 1);
  const place = (at: number) => placeOnRuler(at - firstAt, wholeMs);
  const made = points.filter(({ state }) => state !== 'planned');
  const last = made.at(-1);
  const nowAt = place(now);
  const labelled = withRoom(points.filter(({ label }) => label !== '').map(({ at }) => place(at)));
  return (
    <div className="ruler" role="img" aria-label={describe(points, endsAt, isOver)}>
      <div className="track" />
      <div className="done" style={{ width: `${last === undefined ? 0 : place(last.at)}%` }} />
      {points.map(({ at, state, label, detail }) => {
        const left = place(at);
        const hasLabel = label !== '' && labelled.has(left);
        return (
          <div className={`pt${state === 'planned' ? '' : ' key'}`} style={{ left: `${left}%` }} key={`${at} ${label}`}>
            {state === 'planned' ? <span className="plan" /> : <StateMark state={state} />}
            {hasLabel && (
              <span className="l">
                <b>{label}</b>
                {detail}
              </span>
            )}
          </div>
        );
      })}
      {!isOver && now < endsAt && (
        <div className="now" style={{ left: `${nowAt}%` }}>
          <span className={nowAt > 70 ? 'left' : undefined}>now, {duration(now - firstAt)}</span>
        </div>
      )}
      {!isOver && (
        <div className="end">
          <span>
            <b>gives up</b>
            {moment(endsAt, now)}
          </span>
        </div>
      )}
    </div>
  );
}

function describe(points: readonly RulerPoint[], endsAt: number, isOver: boolean): string {
  const made = points.filter(({ state }) => state !== 'planned').length;
  return `${made} attempts made${isOver ? '' : `, Millrace gives up at ${moment(endsAt)}`}`;
}

/** The places that have room for a label, from the left. */
function withRoom(places: readonly number[]): ReadonlySet<number> {
  const chosen: number[] = [];
  for (const place of places) {
    const last = chosen.at(-1) ?? -LEFT_OUT_PERCENT;
    if (place - last >= LEFT_OUT_PERCENT && place < 100 - LEFT_OUT_PERCENT) chosen.push(place);
  }
  return new Set(chosen);
}
