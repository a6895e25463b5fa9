import { median, round } from './measure-cpu.ts';

/** CPU of collect in turns that lay side by side: without viewers and with them. */
export type Turn = { quiet: number; watched: number };

export type TailVerdict = {
  verdict: 'within the goal' | 'above the goal' | 'too noisy to say';
  /** The median of the turns' own ratios, and the lowest and highest. */
  ratio: number;
  lowest: number;
  highest: number;
  /** The same ratio between neighbours that both had no viewers: the noise of the machine around 1. */
  noise: number;
  quietCpu: number;
  watchedCpu: number;
};

/** A difference counts when it is larger than what two equal turns differ by. */
export function judgeTurns(turns: readonly Turn[], goal: number): TailVerdict {
  const ratios = turns.map(({ quiet, watched }) => watched / quiet);
  const ratio = round(median(ratios));
  const noise = round(noiseOf(turns));
  return {
    verdict: ratio <= goal ? 'within the goal' : ratio <= goal * noise ? 'too noisy to say' : 'above the goal',
    ratio,
    lowest: round(Math.min(...ratios)),
    highest: round(Math.max(...ratios)),
    noise,
    quietCpu: round(median(turns.map(({ quiet }) => quiet))),
    watchedCpu: round(median(turns.map(({ watched }) => watched))),
  };
}

/** How far apart two turns without viewers are, the larger by the smaller, in the middle of all such pairs. */
function noiseOf(turns: readonly Turn[]): number {
  const pairs = turns.slice(1).map(({ quiet }, index) => [quiet, turns[index]?.quiet ?? quiet] as const);
  return median(pairs.map(([one, other]) => Math.max(one, other) / Math.min(one, other)));
}
