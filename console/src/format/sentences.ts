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
/** Sentences of the API hold times in ISO 8601: people read clock times. */
import { moment } from './times.ts';

const ISO_TIME = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;

export function localTimes(sentence: string, now: number = Date.now()): string {
  return sentence.replaceAll(ISO_TIME, (time) => moment(time, now));
}

/** "a", "a and b", "a, b and c"; more than `most` are counted. */
export function listed(words: readonly string[], most = 4): string {
  const named = words.length > most ? [...words.slice(0, most - 1), `${words.length - most + 1} more`] : [...words];
  const last = named.pop() ?? '';
  return named.length === 0 ? last : `${named.join(', ')} and ${last}`;
}
