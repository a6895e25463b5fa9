import { Failure } from '../output/failures.ts';

/** A whole number above 0. */
export function readCount(option: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Failure(`${option} ${text} is no number above 0.`, { exit: 'usage', todo: 'Give one such as 50.' });
}
