/** How a delivery stands, in one sentence, with what comes next. Pure; `millrace deliveries show` prints the same text. */
import { standingOf } from '../../format/standings.ts';
import type { DeliveryAttempt, DeliveryDetails, Lane } from '@millrace/contract/control';
import { shortWords } from '../../format/codes.ts';
import { STATE_WORDS } from './delivery-words.ts';
import { counted } from '../../format/numbers.ts';
import { localSentence } from '../../format/sentences.ts';
import { hostOf } from '../../format/texts.ts';
import { distance, duration, moment } from '../../format/times.ts';
import type { StateName } from '../../format/state-name.ts';
import { windowOf } from './plan-attempts.ts';

export type ToldDelivery = { state: StateName; lead: string; sentence: string; after: string };

type Answer = DeliveryAttempt['answers'][number];
type Case = { delivery: DeliveryDetails; lane: Lane | null; now: number };

export function tellDelivery(given: Case): ToldDelivery {
  const { delivery, now } = given;
  const state = standingOf(delivery.state).state;
  switch (delivery.state) {
    case 'delivered':
      return { state, ...tellDelivered(delivery, now) };
    case 'retrying':
      return { state, lead: 'Retrying.', sentence: tellFailed(delivery, now), after: tellNext(given) };
    case 'pending':
      return { state, lead: 'Waiting in the lane.', sentence: tellPending(given), after: tellNext(given) };
    case 'skipped':
      return {
        state,
        lead: 'Skipped.',
        sentence: tellSkipped(delivery),
        after: 'Millrace sent nothing to this destination.',
      };
    default:
      return { state, ...tellGivenUp(delivery, now) };
  }
}

function tellDelivered(delivery: DeliveryDetails, now: number) {
  const last = delivery.history.at(-1);
  const taken = last?.answers.find(({ status }) => status !== undefined && status >= 200 && status < 300);
  const host = taken === undefined ? 'The receiver' : hostOf(taken.url);
  const status = taken?.status ?? delivery.lastStatus;
  const at = delivery.lastAttemptAt;
  const tries = delivery.attempts > 1 ? `, at attempt ${delivery.attempts}` : '';
  const when = at === null ? '' : ` at ${moment(at, now)}`;
  const after =
    at === null
      ? ''
      : `Millrace sent it ${duration(Date.parse(at) - Date.parse(delivery.receivedAt))} after it had received the event. Nothing to do.`;
  return { lead: `Delivered${when}.`, sentence: `${host} answered ${status ?? '2xx'}${tries}.`, after };
}

const DELETED = {
  lead: 'Given up.',
  sentence: 'The destination was deleted while it waited.',
  after: 'Nothing is left to send it to, so Millrace keeps no dead letter of it.',
};

function tellGivenUp(delivery: DeliveryDetails, now: number) {
  const { attempts, lastAttemptAt, reason, state } = delivery;
  if (reason === 'destination_deleted') return DELETED;
  const when = lastAttemptAt === null ? '' : ` at ${moment(lastAttemptAt, now)}`;
  const lead = state === 'expired' ? `Given up after four hours${when}.` : `Given up${when}.`;
  const cause =
    attempts === 0
      ? `Millrace made no attempt (${reason ?? STATE_WORDS[state].toLowerCase()}).`
      : tellFailed(delivery, now);
  const why = state === 'discarded' && attempts > 0 ? ' Millrace does not retry a refusal.' : '';
  const after =
    reason === 'letter_refused'
      ? 'There was no room for its dead letter: only this record is left.'
      : 'Millrace keeps it as a dead letter for 14 days. To do: mend the cause, then send it again.';
  return { lead, sentence: `${cause}${why}`, after };
}

function tellPending({ delivery, lane }: Case): string {
  if (lane === null) return `Millrace has made ${counted(delivery.attempts, 'attempt')} yet, and takes it in its turn.`;
  if (lane.state === 'paused') return 'The destination is paused: Millrace sends nothing, and nothing expires.';
  if (lane.state === 'failing') return 'The destination keeps failing, so Millrace sends only probes.';
  if (lane.state === 'asked_to_wait') return 'The receiver asked Millrace to wait.';
  return 'Deliveries that came before it go first.';
}

function tellNext({ delivery, lane, now }: Case): string {
  const window = windowOf(delivery);
  const end =
    window === undefined
      ? 'The four hours begin with the first attempt.'
      : `Millrace gives up at ${moment(window.endsAt, now)} and keeps the delivery as a dead letter for 14 days.`;
  if (lane?.state === 'paused')
    return 'Its time stands still while the destination is paused. To do: resume the destination.';
  const next = nextAttemptAt(delivery, lane);
  if (next === undefined) return end;
  const isHeld = lane?.state === 'failing';
  const words = isHeld ? 'The next probe of the destination is' : 'Next attempt';
  return `${words} at ${moment(next, now)} (${distance(next, now)}). ${end}`;
}

/** A lane that fails or was asked to wait holds up deliveries whose time has come. */
export function nextAttemptAt({ nextAt }: Pick<DeliveryDetails, 'nextAt'>, lane: Lane | null): number | undefined {
  const own = nextAt === null ? undefined : Date.parse(nextAt);
  const isHeld = lane?.state === 'failing' || lane?.state === 'asked_to_wait';
  const held = isHeld && lane.nextAt !== null ? Date.parse(lane.nextAt) : undefined;
  if (own === undefined || held === undefined) return own ?? held;
  return Math.max(own, held);
}

/** "Both targets failed 7 times: a.example answered 503. The certificate of b.example has expired." */
function tellFailed({ history, attempts, sentence }: DeliveryDetails, now: number): string {
  const failed = (history.at(-1)?.answers ?? []).filter(({ status }) => status === undefined || status >= 300);
  if (failed.length === 0) return localSentence(sentence ?? 'The receiver did not take it.', now);
  const times = attempts > 1 ? `${attempts} attempts failed: ` : '';
  const words = failed.map((answer) => answerSentence(answer, now)).join(' ');
  return `${failed.length === 2 && attempts > 1 ? `Both targets failed ${attempts} times: ` : times}${words}`;
}

export function answerSentence({ url, status, errorClass, message }: Answer, now: number): string {
  const host = hostOf(url);
  if (status !== undefined) return `${host} answered ${status}.`;
  return message === undefined ? `${host}: ${shortWords(errorClass ?? 'error')}.` : localSentence(message, now);
}

function tellSkipped({ reason, rule }: DeliveryDetails): string {
  switch (reason) {
    case 'filtered':
      return rule === null ? 'A filter of the destination stopped it.' : `It does not pass the filter: ${rule}.`;
    case 'destination_disabled':
      return 'The destination was disabled when the event arrived.';
    case 'integrations_map':
      return 'Its sender left this destination out (integrations).';
    case 'blocked_event':
      return 'The schema of its source blocks this event.';
    case 'type_not_accepted':
      return 'The destination does not accept calls of this type.';
    case 'erased':
      return 'Its user was erased.';
    case 'suppressed':
      return 'Its user is suppressed.';
    default:
      return reason === null ? 'The record has no reason.' : `The reason is ${reason}.`;
  }
}
