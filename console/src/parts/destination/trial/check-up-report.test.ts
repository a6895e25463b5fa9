import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckUpStep, Grade } from '@millrace/contract/control';
import { answerWords, gradeWords, sentParts } from './check-up-report.ts';

const step = (grade: Grade | null): CheckUpStep => ({
  name: 'wrong_signature',
  grade,
  sent: '',
  webhookId: null,
  answer: null,
  sentence: null,
  remedy: null,
  docs: null,
});

test('the badge of a report counts what to change', () => {
  assert.equal(gradeWords({ steps: [step('good'), step('good')] }), 'all good');
  assert.equal(gradeWords({ steps: [step('danger'), step('warning'), step('good')] }), '1 fault, 1 to improve');
  assert.equal(gradeWords({ steps: [step('good'), step('unknown')] }), 'nothing to conclude');
});

test('an answer is its status, or the class of the error', () => {
  assert.equal(answerWords({ answer: { status: 200, errorClass: null, ms: 61 }, grade: 'good' }).text, '200');
  assert.equal(
    answerWords({ answer: { status: null, errorClass: 'timeout', ms: 5_000 }, grade: 'danger' }).text,
    'timeout',
  );
  assert.equal(answerWords({ answer: null, grade: 'unknown' }).text, 'not known');
});

test('the expected answer stands apart from what was sent', () => {
  assert.deepEqual(sentParts('A call of 32 KiB; expects a refusal, 4xx.'), {
    what: 'A call of 32 KiB',
    expects: 'a refusal, 4xx',
  });
  assert.deepEqual(sentParts('Nothing more.'), { what: 'Nothing more', expects: '' });
});
