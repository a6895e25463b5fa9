/** When a screen reads again by itself, and when another look would show nothing new. */
import { ApiError } from './ask-control.ts';

type Look<Data> = { state: { data: Data | undefined; error: Error | null } };

export function hasStatus(error: unknown, ...statuses: readonly number[]): boolean {
  return error instanceof ApiError && statuses.includes(error.problem.status);
}

/** A `refetchInterval` that ends when the thing is over, is not there, or is not for this person. Other errors may pass. */
export function lookAgain<Data>(next: (data: Data | undefined) => number | false) {
  return ({ state: { data, error } }: Look<Data>): number | false => (hasStatus(error, 403, 404) ? false : next(data));
}

/** The same at one pace: it goes on until the first answer, and then while `isOpen`. */
export function lookWhile<Data>(everyMs: number, isOpen: (data: Data) => boolean) {
  return lookAgain<Data>((data) => (data === undefined || isOpen(data) ? everyMs : false));
}
