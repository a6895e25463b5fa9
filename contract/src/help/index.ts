/** Help texts for every code that people meet, for the console and for docs/use/errors.md. Runs in a browser: it imports no Node. */
import { ATTEMPT_HELP } from './attempt-help.ts';
import type { ErrorClass, GiveUpReason, ProblemCode, SkipReason } from './codes.ts';
import type { RefusalCode, RequestProblemCode } from '../refusals.ts';
import type { Help } from './help.ts';
import { PROBLEM_HELP } from './problem-help.ts';
import { REFUSAL_HELP, REQUEST_HELP } from './refusal-help.ts';
import { GIVE_UP_HELP, SKIP_HELP } from './routing-help.ts';
import { STATUS_HELP, type StatusCode } from './status-help.ts';

export * from './codes.ts';
export { type Help, PEOPLE, type WhoCanDoIt } from './help.ts';
export type { StatusCode } from './status-help.ts';
export { ATTEMPT_HELP, GIVE_UP_HELP, PROBLEM_HELP, REFUSAL_HELP, REQUEST_HELP, SKIP_HELP, STATUS_HELP };

export type HelpCode =
  | ErrorClass
  | StatusCode
  | SkipReason
  | GiveUpReason
  | RefusalCode
  | RequestProblemCode
  | ProblemCode;

/** Every code with its help. No two lists share a code: each is an anchor of docs/use/errors.md. */
export const HELP: Readonly<Record<HelpCode, Help>> = {
  ...ATTEMPT_HELP,
  ...STATUS_HELP,
  ...SKIP_HELP,
  ...GIVE_UP_HELP,
  ...REFUSAL_HELP,
  ...REQUEST_HELP,
  ...PROBLEM_HELP,
};

/** The entry for a code of an answer or a record, also of a status such as `http_418`; undefined for a code that is not known. */
export function helpCodeOf(code: string): HelpCode | undefined {
  if (Object.hasOwn(HELP, code)) return code as HelpCode;
  const family = /^http_([345])\d\d$/.exec(code)?.[1];
  return family === undefined ? undefined : (`http_${family}xx` as HelpCode);
}
