/** Grades the answers to the requests of a check-up, each with a sentence and a remedy. Pure. */
import type { CheckUp, CheckUpStep, Grade } from '@millrace/contract/control';
import { GRADES } from '@millrace/contract/control';
import type { CheckUpAnswer } from '../../../domain/ask.ts';

/** The conclusion of one step. */
export type Finding = { grade: Grade; sentence: string; remedy: string | null; docs: string | null };

const PAGE = 'docs/use/receiving.md';
export const DOCS = {
  answers: `${PAGE}#your-answer-and-its-effect`,
  duplicates: `${PAGE}#duplicates-and-order`,
  signatures: `${PAGE}#signatures`,
  receivers: `${PAGE}#receivers`,
  mistakes: `${PAGE}#common-mistakes`,
  checkUrl: 'docs/use/trying.md',
} as const;

/** Half of the time that a receiver has: on a busy day it would be late. */
export const SLOW_MS = 2_500;

const MUST_VERIFY =
  'Compute webhook-signature over the bytes of the body with your secret, compare it in constant time, and answer 401 when it differs or is missing, to tests too.';
const NOT_TOLD = 'The receiver did not accept the rightly signed call either, so this answer says nothing.';

export function isAccepted({ status }: CheckUpAnswer): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** Deliver would try again: see `judge` in deliver. */
function isLater(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** Millrace itself was short of connections, or was stopped: nothing is known of the receiver. */
function isOurs({ errorClass }: CheckUpAnswer): boolean {
  return errorClass === 'not_sent' || errorClass === 'stopped';
}

const good = (sentence: string, remedy: string | null = null, docs: string | null = null): Finding => {
  return { grade: 'good', sentence, remedy, docs };
};
const unknown = (sentence: string): Finding => ({ grade: 'unknown', sentence, remedy: null, docs: null });

export function gradeRight(answer: CheckUpAnswer, isSigned: boolean): Finding {
  const { status, sentence } = answer;
  const danger = (means: string, remedy: string, docs: string): Finding => {
    return { grade: 'danger', sentence: `${sentence} ${means}`, remedy, docs };
  };
  if (isOurs(answer)) return unknown(`${sentence} Start the check-up again.`);
  if (status === null) return danger('No event arrives.', noAnswerRemedy(answer), noAnswerDocs(answer));
  if (isAccepted(answer)) return good(`${sentence} It accepts a call as deliveries bring it.`);
  if (status === 429 || status === 408) {
    const remedy =
      'Let the receiver take more, or set maxPerSecond and maxConcurrency of the destination to what it can take.';
    const means = 'It asks to come back later; deliveries would wait.';
    return { grade: 'warning', sentence: `${sentence} ${means}`, remedy, docs: DOCS.answers };
  }
  if (status >= 500)
    return danger(
      'Deliveries would be retried for hours and then given up.',
      'Look for the error in its log.',
      DOCS.answers,
    );
  const means = 'Every delivery would be given up at once and kept as a dead letter.';
  if (status < 400) return danger(means, 'Redirects are not followed: set the URL that answers itself.', DOCS.mistakes);
  if (isSigned && (status === 401 || status === 403)) {
    const remedy =
      'Compare the secret of the receiver with that of the destination, and check the bytes of the body as they came.';
    return danger(means, remedy, DOCS.mistakes);
  }
  return danger(means, 'Check the URL and the headers of the target, and the log of the receiver.', DOCS.answers);
}

function noAnswerRemedy({ errorClass }: CheckUpAnswer): string {
  return errorClass === 'timeout'
    ? 'Store the event, answer, and work after that: a receiver has 5 seconds.'
    : 'Repair the connection: POST /api/v1/destinations/check-url tells step by step where it ends.';
}

function noAnswerDocs({ errorClass }: CheckUpAnswer): string {
  return errorClass === 'timeout' ? DOCS.answers : DOCS.checkUrl;
}

export type Compared = { answer: CheckUpAnswer; right: CheckUpAnswer };

/** Grades a request that has to be refused; `accepted` is the finding when it is not. */
function gradeRefusal({ answer, right }: Compared, accepted: Omit<Finding, 'sentence'> & { means: string }): Finding {
  const { status, sentence } = answer;
  const { means, ...rest } = accepted;
  if (isAccepted(answer)) return { ...rest, sentence: `${sentence} ${means}` };
  if (!isAccepted(right)) return unknown(`${sentence} ${NOT_TOLD}`);
  if (status === null) return unknown(`${sentence} Whether the receiver would accept it stays open.`);
  if (status >= 400 && !isLater(status)) return good(`${sentence} It refuses the call, as it should.`);
  const odd =
    status < 400 ? 'It refuses the call with a redirect.' : 'It does not accept the call, but asks to send it again.';
  const remedy = 'Answer 401: it says that the call itself is at fault, and ends it.';
  return { grade: 'warning', sentence: `${sentence} ${odd}`, remedy, docs: DOCS.answers };
}

export function gradeWrong(compared: Compared): Finding {
  return gradeRefusal(compared, {
    grade: 'danger',
    means: 'It accepts a call with a wrong signature: anybody who knows the URL can send it events.',
    remedy: MUST_VERIFY,
    docs: DOCS.signatures,
  });
}

/** A destination without a secret: there is no signature to get wrong. */
export function gradeUnsigned(hasOwnHeaders: boolean): Finding {
  const why = 'The destination has no shared secret, so its calls are not signed';
  const remedy = `Set sharedSecret of the destination. Then: ${MUST_VERIFY}`;
  return hasOwnHeaders
    ? {
        grade: 'warning',
        sentence: `${why}; the receiver can only check the headers of the target, which protect neither the body nor against replay.`,
        remedy,
        docs: DOCS.signatures,
      }
    : {
        grade: 'danger',
        sentence: `${why}: anybody who knows the URL can send it events.`,
        remedy,
        docs: DOCS.signatures,
      };
}

export function gradeOld(compared: Compared): Finding {
  return gradeRefusal(compared, {
    grade: 'warning',
    means: 'It accepts a call that is an hour old: a recorded call can be sent to it again (replay attack).',
    remedy:
      'Verify webhook-signature, and refuse a webhook-timestamp that is more than 5 minutes away from your clock.',
    docs: DOCS.signatures,
  });
}

export function gradeRepeated({ answer, right }: Compared): Finding {
  const { status, sentence } = answer;
  if (!isAccepted(right)) return unknown(`${sentence} ${NOT_TOLD}`);
  const docs = DOCS.duplicates;
  if (isAccepted(answer)) {
    const both =
      status === right.status
        ? `It answered ${status} both times.`
        : `It answered ${right.status} first and then ${status}.`;
    const remedy = 'See in the receiver that it handled this webhook-id once.';
    return good(`${both} Whether it handled the event twice cannot be seen from here.`, remedy, docs);
  }
  const first = `It answered ${right.status} the first time.`;
  const effect =
    status !== null && !isLater(status)
      ? 'An event that it has would be kept as a dead letter.'
      : 'An event that it has would be sent again and again.';
  const remedy = 'Answer 2xx for a webhook-id that you have seen: the event is safe, and Millrace is done with it.';
  return { grade: 'warning', sentence: `${sentence} ${first} ${effect}`, remedy, docs };
}

export function gradeLarge({ answer, right }: Compared): Finding {
  const { status, sentence } = answer;
  if (!isAccepted(right)) return unknown(`${sentence} ${NOT_TOLD}`);
  const { events = 1, bytes } = answer;
  if (isAccepted(answer))
    return good(
      events === 1
        ? `${sentence} It takes the largest call, here a body of ${bytes} bytes.`
        : `${sentence} It takes the largest batch, here ${events} events in a body of ${bytes} bytes.`,
    );
  const effect =
    events > 1
      ? `It takes one event, but not a batch of ${bytes} bytes: deliver would divide full batches, and send more requests.`
      : largeEffect(status);
  const remedy = 'Let the receiver, and each proxy before it, take bodies of 512,000 bytes.';
  return { grade: 'warning', sentence: `${sentence} ${effect}`, remedy, docs: DOCS.mistakes };
}

function largeEffect(status: number | null): string {
  return status !== null && !isLater(status)
    ? 'Small calls arrive, but large ones would be given up at once and kept as dead letters.'
    : 'Small calls arrive, but large ones would be retried and then given up.';
}

/** Over all answers; times include DNS, connection and TLS where the request opened its connection, as the deadline does. */
export function gradeTime(answers: readonly CheckUpAnswer[]): Finding {
  const remedy = 'Store the event, answer, and work after that: a receiver has 5 seconds, also on a busy day.';
  const late = answers.filter(({ errorClass }) => errorClass === 'timeout').length;
  if (late > 0) {
    const sentence = `The receiver did not answer ${late} of ${answers.length} requests within 5 seconds: such deliveries are retried, although it may have handled them.`;
    return { grade: 'danger', sentence, remedy, docs: DOCS.answers };
  }
  const { slowestMs } = timesOf(answers);
  if (slowestMs === null) return unknown('The receiver answered nothing, so there is no time to judge.');
  const sentence = `The slowest answer took ${slowestMs} ms of the 5,000 that a receiver has.`;
  return slowestMs > SLOW_MS ? { grade: 'warning', sentence, remedy, docs: DOCS.answers } : good(sentence);
}

export function timesOf(answers: readonly CheckUpAnswer[]): Pick<Facts, 'fastestMs' | 'slowestMs'> {
  const times = answers.filter(({ status }) => status !== null).map(({ ms }) => ms);
  return times.length === 0
    ? { fastestMs: null, slowestMs: null }
    : { fastestMs: Math.min(...times), slowestMs: Math.max(...times) };
}

type Facts = NonNullable<CheckUp['facts']>;

/** The worst grade of the steps, and the report in one sentence. */
export function gradeReport(steps: readonly CheckUpStep[]): { grade: Grade; sentence: string } {
  const grades = steps.map(({ grade }) => grade ?? 'unknown');
  const grade = GRADES.findLast((each) => grades.includes(each)) ?? 'unknown';
  const count = grades.filter((each) => each === grade).length;
  const some = count === 1 ? 'one step' : `${count} steps`;
  switch (grade) {
    case 'good':
      return { grade, sentence: 'The receiver did everything right that can be seen from outside.' };
    case 'unknown':
      return { grade, sentence: `Nothing is wrong, but ${some} could not be judged.` };
    case 'warning':
      return { grade, sentence: `The receiver works, and ${some} found a weakness: see its remedy.` };
    case 'danger':
      return { grade, sentence: `The receiver must be changed before events go to it: ${some} found a danger.` };
  }
}
