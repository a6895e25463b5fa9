/** Sentences of the API hold ISO times. The console shows them as local clock times, like all others. */
import { moment } from './times.ts';

const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

export function withLocalTimes(sentence: string, now: number = Date.now()): string {
  return sentence.replace(ISO, (at) => moment(at, now));
}

/** "a", "a and b", "a, b and c". */
export function listed(parts: readonly string[]): string {
  if (parts.length < 2) return parts[0] ?? '';
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
