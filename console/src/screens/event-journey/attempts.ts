/** The attempts of a delivery on the small ruler, and what they came to in words. */
import { counted } from '../../format/numbers.ts';
import { clockMs, moment } from '../../format/times.ts';
import type { StateName } from '../../parts/state-mark.tsx';
import type { JourneyPart } from './verdict.ts';

const FOUR_HOURS_MS = 14_400_000;

export type RulerMark = { sinceFirstMs: number; state: StateName | 'planned'; title: string };

type Attempt = JourneyPart['history'][number];

/** A replay starts a delivery anew: its attempts count from 1, and it has four hours of its own. */
export function latestRun({ history }: Pick<JourneyPart, 'history'>): Attempt[] {
  const last = history.at(-1);
  return last === undefined ? [] : history.filter(({ replayId }) => replayId === last.replayId);
}

export function marksOf(part: JourneyPart): RulerMark[] {
  if (part.state === 'pending' && part.lane?.state === 'paused')
    return [{ sinceFirstMs: 0, state: 'paused', title: 'paused before the first attempt' }];
  const run = latestRun(part);
  const [first] = run;
  if (first === undefined) return [];
  const firstAt = Date.parse(first.at);
  const made = run.map(({ attempt, at, outcome }) => ({
    sinceFirstMs: Date.parse(at) - firstAt,
    state: stateOfAttempt(outcome),
    title: `attempt ${attempt} at ${clockMs(at)}`,
  }));
  if (part.nextAt === null || part.state !== 'retrying') return made;
  const next = { sinceFirstMs: Date.parse(part.nextAt) - firstAt, state: 'planned' as const };
  return [...made, { ...next, title: `next attempt not before ${clockMs(part.nextAt)}` }];
}

function stateOfAttempt(outcome: string): StateName {
  if (outcome === 'delivered') return 'delivered';
  return outcome === 'discarded' || outcome === 'expired' ? 'givenup' : 'retrying';
}

/** When Millrace gives it up: four hours after the first attempt of its latest run. */
export function givesUpAt(part: JourneyPart): number | undefined {
  const [first] = latestRun(part);
  return first === undefined || part.state !== 'retrying' ? undefined : Date.parse(first.at) + FOUR_HOURS_MS;
}

export type Telling = { first: string; rest: string };

/** The end of the journey at one destination: the first words are bold. */
export function tell(part: JourneyPart, now: number): Telling {
  switch (part.state) {
    case 'delivered':
      return tellDelivered(part);
    case 'retrying':
      return tellRetrying(part, now);
    case 'pending':
      return { first: 'Not attempted:', rest: tellLane(part, now) };
    case 'discarded':
      return {
        first: `Given up${part.lastAttemptAt === null ? '' : ` at ${moment(part.lastAttemptAt, now)}`}:`,
        rest: tellGivenUp(part),
      };
    case 'expired':
      return { first: 'Given up after 4 hours:', rest: tellGivenUp(part) };
    case 'skipped':
      return { first: 'Not sent:', rest: tellSkipped(part) };
  }
}

function tellDelivered(part: JourneyPart): Telling {
  const run = latestRun(part);
  const success = run.findLast(({ outcome }) => outcome === 'delivered');
  const at = success?.at ?? part.lastAttemptAt;
  const first = at === null ? 'Delivered.' : `Delivered at ${clockMs(at)}`;
  const attempt = success?.attempt ?? part.attempts;
  if (attempt <= 1) return { first, rest: 'on the first attempt.' };
  const before = run.findLast(({ outcome }) => outcome === 'retry');
  return {
    first,
    rest: `on attempt ${attempt}.${before === undefined ? '' : ` Attempt ${before.attempt}: ${ended(answerOf(before))}`}`,
  };
}

/** Some sentences of the record end with a full stop, and some do not. */
function ended(sentence: string): string {
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}

function answerOf({ answers }: Attempt): string {
  const answer = answers.findLast(({ status }) => status === undefined || status >= 300) ?? answers.at(-1);
  if (answer === undefined) return 'it failed';
  return answer.status === undefined ? (answer.message ?? 'no answer') : `the receiver answered ${answer.status}`;
}

function tellRetrying(part: JourneyPart, now: number): Telling {
  const next = part.nextAt === null ? '' : ` Next not before ${moment(part.nextAt, now)}`;
  const end = givesUpAt(part);
  const gives = end === undefined ? '' : `${next === '' ? ' Millrace' : ', Millrace'} gives up at ${moment(end, now)}`;
  return {
    first: `${counted(part.attempts, 'attempt')} failed:`,
    rest: `${ended(part.sentence ?? 'no answer is recorded')}${next}${gives}${next + gives === '' ? '' : '.'}`,
  };
}

function tellLane({ lane }: JourneyPart, now: number): string {
  if (lane === null) return 'it is on its way.';
  const since = moment(lane.since, now);
  const next = lane.nextAt === null ? '' : moment(lane.nextAt, now);
  switch (lane.state) {
    case 'paused':
      return `the destination is paused since ${since}. The 4 hours start when a member resumes it.`;
    case 'failing':
      return `the destination fails since ${since}${lane.why === null ? '' : ` (${lane.why})`}.${next === '' ? '' : ` Millrace probes it next at ${next}.`}`;
    case 'asked_to_wait':
      return `the receiver asked Millrace to wait${next === '' ? '' : ` until ${next}`}.`;
    case 'waiting':
    case 'draining':
      return `it waits in the lane of the destination with ${counted(lane.depth, 'delivery', 'deliveries')}.`;
  }
}

function tellGivenUp({ reason, sentence, state, isErased }: JourneyPart): string {
  if (isErased) return 'its user was erased since, so Millrace keeps neither the answers nor a dead letter.';
  if (reason === 'lane_full')
    return 'so many deliveries waited for this destination that there was no room for it. It is a dead letter.';
  if (reason === 'destination_deleted')
    return 'the destination was deleted while it waited. Nothing is left to send it to.';
  const kept =
    reason === 'letter_refused'
      ? 'It is not kept: the dead letters hold all they may.'
      : 'It is kept as a dead letter for 14 days.';
  const said = sentence ?? 'no answer is recorded';
  return state === 'discarded' ? `${said}, and Millrace does not retry that. ${kept}` : `${said}. ${kept}`;
}

function tellSkipped({ story }: JourneyPart): string {
  const sentence = story[0] ?? 'the reason is not recorded.';
  return sentence.replace(/^Not sent: /, '');
}
