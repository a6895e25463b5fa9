/** The steps of a check-up as data: the request of each, in words and as deliver is asked for it, and how its answer is graded. */
import { type AcceptedEvent, type DeleteEvent, MAX_CALL_BYTES } from '@millrace/contract';
import type { CheckUp, CheckUpStep, UrlCheck } from '@millrace/contract/control';
import type { CheckUpAnswer, CheckUpVariation } from '../../../domain/ask.ts';
import type { DestinationRow } from '../../../store/destinations.ts';
import {
  type Finding,
  gradeLarge,
  gradeOld,
  gradeRepeated,
  gradeRight,
  gradeTime,
  gradeUnsigned,
  gradeWrong,
  timesOf,
} from './grade-check-up.ts';
import { eventToSend } from './test-event.ts';

/** The facts about the destination that decide which requests make sense. */
export type CheckedTarget = { url: string; isSigned: boolean; hasOwnHeaders: boolean };

/** The answers so far: that to the rightly signed call, and all of them. */
export type Answers = { right: CheckUpAnswer | undefined; all: readonly CheckUpAnswer[] };

type SentStep = {
  name: CheckUpStep['name'];
  sent: string;
  variation: Omit<CheckUpVariation, 'token'> & { isRepeated?: true };
  isLarge?: true;
  /** Needs a signature to get wrong. */
  isAboutSignature?: true;
  grade(answer: CheckUpAnswer, right: CheckUpAnswer, target: CheckedTarget): Finding;
};

const AGE_SECONDS = 3_600;
const PLAIN = { signature: 'right', ageSeconds: 0, attempt: 1 } as const;

/** Each sends one request. The last step of a check-up, `answer_time`, sends none: it looks at the times of these. */
export const SENT_STEPS: readonly SentStep[] = [
  {
    name: 'right_signature',
    sent: 'A sample call as a delivery brings it, rightly signed; expects 2xx.',
    variation: PLAIN,
    grade: (answer, _, { isSigned }) => gradeRight(answer, isSigned),
  },
  {
    name: 'wrong_signature',
    sent: 'The sample call with signatures made with another secret; expects a refusal, 4xx.',
    variation: { ...PLAIN, signature: 'wrong' },
    isAboutSignature: true,
    grade: (answer, right) => gradeWrong({ answer, right }),
  },
  {
    name: 'old_timestamp',
    sent: 'The sample call rightly signed with a timestamp of an hour ago; expects a refusal, 4xx.',
    variation: { ...PLAIN, ageSeconds: AGE_SECONDS },
    isAboutSignature: true,
    grade: (answer, right) => gradeOld({ answer, right }),
  },
  {
    name: 'repeated_id',
    sent: 'The first call once more with the same webhook-id, as a second attempt; expects 2xx.',
    variation: { ...PLAIN, attempt: 2, isRepeated: true },
    grade: (answer, right) => gradeRepeated({ answer, right }),
  },
  {
    name: 'large_body',
    sent: 'A call of 32 KiB, the largest that the collection API accepts, or a full batch of them where the destination gets batches; expects 2xx.',
    variation: { ...PLAIN, fillsBatch: true },
    isLarge: true,
    grade: (answer, right) => gradeLarge({ answer, right }),
  },
];

const TIME_STEP = { name: 'answer_time', sent: 'Nothing more: looks at the times of the answers above.' } as const;

export function waitingSteps(): CheckUpStep[] {
  const waiting = { grade: null, webhookId: null, answer: null, sentence: null, remedy: null, docs: null };
  return [...SENT_STEPS, TIME_STEP].map(({ name, sent }) => ({ name, sent, ...waiting }));
}

/** The finding of a step that sends nothing; undefined when its request has to be sent. */
export function unsentFinding(step: SentStep, { right }: Answers, target: CheckedTarget): Finding | undefined {
  const isUnanswered = right !== undefined && right.status === null;
  if (isUnanswered) {
    const sentence = 'Not sent, because the first call got no answer.';
    return { grade: 'unknown', sentence, remedy: null, docs: null };
  }
  if (step.isAboutSignature !== true || target.isSigned) return undefined;
  if (step.name === 'wrong_signature') return gradeUnsigned(target.hasOwnHeaders);
  const sentence = 'Not sent: without a shared secret there is no signature that covers the timestamp.';
  return { grade: 'unknown', sentence, remedy: null, docs: null };
}

export function timeStep({ all }: Answers): CheckUpStep {
  return { ...TIME_STEP, webhookId: null, answer: null, ...gradeTime(all) };
}

/** The facts about the target as the row has them; undefined when there is no such target. */
export function readTarget({ settings }: DestinationRow, index: number): CheckedTarget | undefined {
  const { targets, sharedSecret } = settings as {
    targets?: { url: string; headers?: object }[];
    sharedSecret?: unknown;
  };
  const target = targets?.[index];
  if (target === undefined) return undefined;
  const hasOwnHeaders = Object.keys(target.headers ?? {}).length > 0;
  return { url: target.url, isSigned: sharedSecret !== undefined, hasOwnHeaders };
}

/** The sample, and a call of the largest size that collect accepts. */
export function eventsToSend(now: Date): Record<'sample' | 'large', AcceptedEvent | DeleteEvent> {
  const call = (padding: string) => ({
    type: 'track',
    userId: 'millrace-test-user',
    event: 'Millrace Test',
    properties: { note: 'Sent by a check-up: a call of the largest size', padding },
  });
  const room = MAX_CALL_BYTES - Buffer.byteLength(JSON.stringify(call('')));
  return { sample: eventToSend({}, now), large: eventToSend({ event: call('x'.repeat(room)) }, now) };
}

const CLEAR = 'Without TLS everybody on the way can read the events: use https://.';

/** `check` is that of the URL, for https. */
export function factsOf({ all }: Answers, { url }: CheckedTarget, check: UrlCheck | undefined): CheckUp['facts'] {
  const tls = check?.steps.find(({ step }) => step === 'tls');
  const closes = all.some(({ isClosing }) => isClosing);
  return {
    ...timesOf(all),
    keepsConnections: closes ? false : all.some(({ isReused }) => isReused) || null,
    tlsVersion: tls?.tlsVersion ?? null,
    certificateEndsAt: tls?.certificate?.validTo ?? null,
    sentence: check?.sentence ?? (url.startsWith('http:') ? CLEAR : null),
  };
}
