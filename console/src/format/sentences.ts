/** Sentences of the API hold ISO times and plain figures; a person reads clock times and figures with commas. */
import { count } from './numbers.ts';
import { moment } from './times.ts';

/** An example of how to write a time stays as it is. */
const ISO_TIME = /(?<!such as )\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z/g;
const LONG_COUNT = /\b\d{4,}(?= (?:deliveries|dead letters|calls|events|attempts)\b)/g;

/** The same sentence with local clock times and with commas in its counts. */
export function localSentence(sentence: string, now: string | number | Date = Date.now()): string {
  return sentence
    .replace(ISO_TIME, (at) => (Number.isNaN(Date.parse(at)) ? at : moment(at, now)))
    .replace(LONG_COUNT, (digits) => count(Number(digits)));
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** For the middle of a sentence; a name in capitals (DNS, TLS) stays. */
export function lowerFirst(text: string): string {
  return /^[A-Z]{2}/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);
}
