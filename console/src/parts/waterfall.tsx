/** The phases of one request, one below the other, on the same scale as its whole time. */
import { milliseconds } from '../format/numbers.ts';
import type { StateName } from './state-mark.tsx';

export type Phase = { name: string; ms: number | undefined };

type WaterfallProps = {
  phases: readonly Phase[];
  totalMs: number;
  allowedMs: number;
  /** Colours the longest phase of a request that failed. */
  state?: StateName;
};

export function Waterfall({ phases, totalMs, allowedMs, state }: WaterfallProps) {
  const longest = Math.max(...phases.map(({ ms }) => ms ?? 0));
  return (
    <div className={`fall ${state ?? ''}`}>
      {phases.map(({ name, ms }, place) => {
        const left = (before(phases, place) / Math.max(totalMs, 1)) * 100;
        const isHot = state !== undefined && ms === longest;
        return (
          <div className="fall-row" key={name}>
            <span className="l">{name}</span>
            {ms === undefined ? (
              <span className="dim">not reached</span>
            ) : (
              <span className="r">
                <i
                  className={isHot ? 'hot' : undefined}
                  style={{
                    left: `${Math.min(left, 99)}%`,
                    width: `${Math.min((ms / Math.max(totalMs, 1)) * 100, 100 - left)}%`,
                  }}
                />
              </span>
            )}
            <span className="ms">{ms === undefined ? '–' : milliseconds(ms)}</span>
          </div>
        );
      })}
      <div className="fall-row">
        <b className="l">Total</b>
        <span className="dim">of {milliseconds(allowedMs)} allowed</span>
        <b className="ms">{milliseconds(totalMs)}</b>
      </div>
    </div>
  );
}

function before(phases: readonly Phase[], place: number): number {
  return phases.slice(0, place).reduce((sum, { ms }) => sum + (ms ?? 0), 0);
}
