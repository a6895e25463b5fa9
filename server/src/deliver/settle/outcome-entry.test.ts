import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { aDelivery, aWebhook } from '../../../testing/samples.ts';
import type { Attempt } from '../attempt/attempt.ts';
import { attemptEntry } from './outcome-entry.ts';

const TIMINGS = { totalMs: 3 };
const REFUSED = { kind: 'status', status: 422, body: 'alice@example.com is invalid', timings: TIMINGS } as const;
const BROKEN = { kind: 'error', errorClass: 'timeout', message: 'No answer.', timings: TIMINGS } as const;

function answersTo(events: number | undefined): unknown {
  const answers = [REFUSED, BROKEN].map((answer, index) => ({ url: `https://${index}.example/`, answer }));
  const made: Attempt = { startedAt: 1, answers, ...(events === undefined ? {} : { events }) };
  const entry = attemptEntry(aDelivery(), aWebhook(), made, { attempt: 1, outcome: 'retry' });
  return JSON.parse(JSON.stringify(entry.kind === 'attempt' ? entry.answers : []));
}

suite('the answer to a POST in the record', () => {
  const refused = { url: 'https://0.example/', status: 422, timings: TIMINGS };
  const broken = { url: 'https://1.example/', errorClass: 'timeout', message: 'No answer.', timings: TIMINGS };

  test('has its body if the POST had one event', () => {
    assert.deepEqual(answersTo(undefined), [{ ...refused, body: REFUSED.body }, broken]);
  });

  test('has its facts and no body if the POST had several: it may name the user of another event', () => {
    assert.deepEqual(answersTo(25), [
      { ...refused, events: 25 },
      { ...broken, events: 25 },
    ]);
  });
});
