import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { MAX_CALL_BYTES } from '@millrace/contract';
import type { CheckUpStep, Grade, UrlCheck } from '@millrace/contract/control';
import type { CheckUpAnswer } from '../../../domain/ask.ts';
import { eventsToSend, factsOf, SENT_STEPS, unsentFinding, waitingSteps } from './check-up-steps.ts';
import {
  DOCS,
  gradeLarge,
  gradeOld,
  gradeRepeated,
  gradeReport,
  gradeRight,
  gradeTime,
  gradeUnsigned,
  gradeWrong,
} from './grade-check-up.ts';

const SEEN = { sentence: 'S.', ms: 20, bytes: 200, isReused: true, isClosing: false };
const status = (code: number, ms = 20): CheckUpAnswer => ({ ...SEEN, status: code, errorClass: null, ms });
const error = (errorClass: string): CheckUpAnswer => ({ ...SEEN, status: null, errorClass });
const TARGET = { url: 'https://hooks.example/in', isSigned: true, hasOwnHeaders: false };
const OK = status(200);

const gradesOf = (grade: (answer: CheckUpAnswer) => { grade: Grade }, answers: CheckUpAnswer[]) =>
  answers.map((answer) => grade(answer).grade);
const ANSWERS = [
  status(204),
  status(302),
  status(401),
  status(409),
  status(429),
  status(503),
  error('connection_reset'),
];

suite('the grade of an answer', () => {
  test('to a rightly signed call is good for 2xx alone', () => {
    const grades = gradesOf((answer) => gradeRight(answer, true), ANSWERS);
    assert.deepEqual(grades, ['good', 'danger', 'danger', 'danger', 'warning', 'danger', 'danger']);
    assert.match(gradeRight(status(401), true).remedy ?? '', /secret/);
    assert.doesNotMatch(gradeRight(status(401), false).remedy ?? '', /secret/);
  });

  test('to a wrong signature is danger for 2xx, good for a refusal, and unknown where the right one is refused too', () => {
    const grades = gradesOf((answer) => gradeWrong({ answer, right: OK }), ANSWERS);
    assert.deepEqual(grades, ['danger', 'warning', 'good', 'good', 'warning', 'warning', 'unknown']);
    const refusing = gradesOf((answer) => gradeWrong({ answer, right: status(401) }), [status(401), status(200)]);
    assert.deepEqual(refusing, ['unknown', 'danger']);
  });

  test('to an old timestamp is a warning for 2xx', () => {
    const grades = gradesOf((answer) => gradeOld({ answer, right: OK }), ANSWERS);
    assert.deepEqual(grades, ['warning', 'warning', 'good', 'good', 'warning', 'warning', 'unknown']);
  });

  test('to a repeated id is good for 2xx and says that deduplication cannot be seen; others are told with both answers', () => {
    const grades = gradesOf((answer) => gradeRepeated({ answer, right: OK }), ANSWERS);
    assert.deepEqual(grades, ['good', 'warning', 'warning', 'warning', 'warning', 'warning', 'warning']);
    assert.match(gradeRepeated({ answer: OK, right: OK }).sentence, /200 both times\. Whether .* cannot be seen/);
    assert.match(gradeRepeated({ answer: status(409), right: OK }).sentence, /200 the first time\. .*dead letter/);
    assert.equal(gradeRepeated({ answer: OK, right: status(500) }).grade, 'unknown');
  });

  test('to a large body is a warning for everything but 2xx', () => {
    const grades = gradesOf((answer) => gradeLarge({ answer, right: OK }), [...ANSWERS, status(413)]);
    assert.deepEqual(new Set(grades.slice(1)), new Set(['warning']));
    assert.equal(grades[0], 'good');
  });

  test('to a full batch says how much it was, and that smaller ones arrive', () => {
    const full = (code: number) => ({ ...status(code), bytes: 493_000, events: 15 });
    assert.match(gradeLarge({ answer: full(200), right: OK }).sentence, /15 events in a body of 493000 bytes/);
    const refused = gradeLarge({ answer: full(413), right: OK });
    assert.equal(refused.grade, 'warning');
    assert.match(refused.sentence, /not a batch of 493000 bytes: deliver would divide full batches/);
    assert.match(refused.remedy ?? '', /512,000 bytes/);
  });

  test('that Millrace itself did not send blames no receiver', () => {
    for (const errorClass of ['not_sent', 'stopped']) {
      assert.equal(gradeRight(error(errorClass), true).grade, 'unknown');
    }
  });

  test('that is late is a danger, that takes more than half of the time a warning', () => {
    assert.equal(gradeTime([OK, status(200, 2_500)]).grade, 'good');
    assert.equal(gradeTime([OK, status(200, 2_501)]).grade, 'warning');
    assert.equal(gradeTime([OK, error('timeout')]).grade, 'danger');
    assert.equal(gradeTime([error('connection_refused')]).grade, 'unknown');
    assert.equal(gradeTime([]).grade, 'unknown');
  });
});

suite('a check-up', () => {
  test('of a destination without a secret says so in place of a request', () => {
    assert.deepEqual([gradeUnsigned(true).grade, gradeUnsigned(false).grade], ['warning', 'danger']);
    const answers = { right: OK, all: [OK] };
    const unsent = SENT_STEPS.filter(
      (step) => unsentFinding(step, answers, { ...TARGET, isSigned: false }) !== undefined,
    );
    assert.deepEqual(
      unsent.map(({ name }) => name),
      ['wrong_signature', 'old_timestamp'],
    );
    assert.ok(SENT_STEPS.every((step) => unsentFinding(step, answers, TARGET) === undefined));
  });

  test('sends nothing more to a receiver that did not answer the first call', () => {
    const away = error('connection_refused');
    const findings = SENT_STEPS.map((step) => unsentFinding(step, { right: away, all: [away] }, TARGET)?.grade);
    assert.deepEqual(new Set(findings), new Set(['unknown']));
  });

  test('has the worst grade of its steps, and a sentence', () => {
    const graded = (...grades: Grade[]) =>
      grades.map((grade): CheckUpStep => ({ ...(waitingSteps()[0] as CheckUpStep), grade }));
    assert.equal(gradeReport(graded('good', 'good')).grade, 'good');
    assert.equal(gradeReport(graded('good', 'unknown')).grade, 'unknown');
    assert.equal(gradeReport(graded('warning', 'unknown', 'good')).grade, 'warning');
    assert.deepEqual(gradeReport(graded('warning', 'danger', 'danger')), {
      grade: 'danger',
      sentence: 'The receiver must be changed before events go to it: 2 steps found a danger.',
    });
  });

  test('leads to sections of the documentation that exist', () => {
    const root = join(import.meta.dirname, '../../../../..');
    for (const docs of Object.values(DOCS)) {
      const [page = '', anchor] = docs.split('#');
      const headings = [...readFileSync(join(root, page), 'utf8').matchAll(/^#+ (.+)$/gm)];
      const anchors = headings.map(([, text = '']) => text.toLowerCase().replaceAll(' ', '-'));
      assert.ok(anchor === undefined || anchors.includes(anchor), docs);
    }
  });

  test('sends as its large call one of exactly the size that the collection API accepts', () => {
    const { large } = eventsToSend(new Date());
    assert.ok(large.type === 'track');
    const { type, userId, event, properties } = large;
    assert.equal(Buffer.byteLength(JSON.stringify({ type, userId, event, properties })), MAX_CALL_BYTES);
  });

  test('tells TLS and certificate as the check of the URL found them, and times of the answers alone', () => {
    const certificate = {
      subject: '',
      issuer: '',
      names: '',
      validFrom: '',
      validTo: '2027-01-01T00:00:00.000Z',
      daysLeft: 9,
    };
    const steps: UrlCheck['steps'] = [{ step: 'tls', ok: true, detail: '', tlsVersion: 'TLSv1.3', certificate }];
    const answers = { right: OK, all: [{ ...OK, ms: 7, isReused: false }, status(401, 30), error('timeout')] };
    assert.deepEqual(factsOf(answers, TARGET, { ok: true, steps, sentence: 'The URL can be used.' }), {
      fastestMs: 7,
      slowestMs: 30,
      keepsConnections: true,
      tlsVersion: 'TLSv1.3',
      certificateEndsAt: '2027-01-01T00:00:00.000Z',
      sentence: 'The URL can be used.',
    });
    const closing = { right: OK, all: [{ ...OK, isClosing: true }] };
    assert.equal(factsOf(closing, TARGET, undefined)?.keepsConnections, false);
    assert.equal(factsOf({ right: OK, all: [{ ...OK, isReused: false }] }, TARGET, undefined)?.keepsConnections, null);
    assert.match(factsOf(closing, { ...TARGET, url: 'http://hooks.example/' }, undefined)?.sentence ?? '', /use https/);
  });
});
