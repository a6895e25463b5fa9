/** The check-up of a receiver, from the request to the report, with real receivers that do it well or badly. With every role. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { MAX_CALL_BYTES, signStandardWebhook, verifyBody } from '@millrace/contract';
import type { CheckUp } from '@millrace/contract/control';
import { askForCheckUps, type CheckUpAsking, holdFirst, pathOf } from '../testing/check-ups.ts';
import { addToken, addWorkspace } from '../testing/control.ts';
import { answer, openReceiver, type Received } from '../testing/receiver.ts';
import { addDestination, addScene, openStack, type Stack } from '../testing/stack.ts';
import { staysTrueFor, until } from '../testing/until.ts';

type Audit = { items: { action: string; objectId: string; details: Record<string, unknown> }[] };
type Step = CheckUp['steps'][number]['name'];

const MINUTE_MS = 60_000;
const SECRET = 'a shared secret';
const HEADER = 'Bearer clear-header-value-1';

let stack: Stack;
let asking: CheckUpAsking;
before(async () => {
  stack = await openStack();
  asking = askForCheckUps(stack);
});
after(() => stack[Symbol.asyncDispose]());

/** A busy machine makes a quick receiver slow. */
const bestGrade = ({ facts }: CheckUp) => ((facts?.slowestMs ?? 0) > 2_500 ? 'warning' : 'good');
const gradesOf = ({ steps }: CheckUp) => Object.fromEntries(steps.map(({ name, grade }) => [name, grade]));
function stepOf({ steps }: CheckUp, name: Step): CheckUp['steps'][number] {
  const step = steps.find((each) => each.name === name);
  assert.ok(step !== undefined);
  return step;
}

async function signedDestination(url: string, headers: Record<string, string> = {}): Promise<string> {
  const { sourceId } = await addScene(stack, url);
  return addDestination(stack, sourceId, { targets: [{ url, headers }], sharedSecret: SECRET });
}

/** As docs/use/receiving.md asks for it: the signature, the age, and each id once. */
function isGenuine({ headers, body }: Received): boolean {
  const [id, timestamp] = [String(headers['webhook-id']), Number(headers['webhook-timestamp'])];
  const expected = signStandardWebhook([SECRET], { id, timestampSeconds: timestamp, body });
  return headers['webhook-signature'] === expected && Math.abs(Date.now() / 1_000 - timestamp) <= 300;
}

function verify(received: Received, response: ServerResponse): void {
  answer(isGenuine(received) ? 200 : 401)(received, response);
}

suite('a check-up of a receiver', () => {
  test('that verifies well finds everything good, with requests that are marked as tests and leave no delivery', async () => {
    await using receiver = await openReceiver(verify);
    const id = await signedDestination(receiver.url, { Authorization: HEADER });
    const report = await asking.checkUp(id);
    const grades = report.steps.slice(0, 5).map(({ grade }) => grade);
    assert.deepEqual(new Set(grades), new Set(['good']), JSON.stringify(report.steps));
    assert.deepEqual([report.state, report.grade, report.targetIndex], ['done', bestGrade(report), 0]);
    assert.ok(report.endedAt !== null && report.sentence !== null);
    assert.deepEqual(
      report.steps.map((step) => step.answer?.status),
      [200, 401, 401, 200, 200, undefined],
    );
    assert.equal(receiver.received.length, 5);
    for (const { headers } of receiver.received) {
      assert.equal(headers['x-millrace-test'], 'true');
      assert.match(String(headers['webhook-id']), /^test_[\w-]{22}$/);
      assert.equal(headers.authorization, HEADER);
    }
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    assert.deepEqual([new Set(ids).size, ids[3]], [4, ids[0]], 'the fourth repeats the first');
    assert.deepEqual(
      report.steps.slice(0, 5).map(({ webhookId }) => webhookId),
      ids,
    );
    assert.equal(receiver.received[3]?.body, receiver.received[0]?.body);
    assert.ok((receiver.received[4]?.body.length ?? 0) > MAX_CALL_BYTES - 100);
    assert.equal(report.facts?.keepsConnections, true);
    assert.match(report.facts?.sentence ?? '', /use https/);
    assert.deepEqual(await stack.laneGroups(), {});
    const deliveries = await stack.get<{ items: object[] }>('GET', `/deliveries?destinationId=${id}`);
    assert.deepEqual(deliveries.items, []);
  });

  test('leaves one entry in the audit log, and no secret in answers or in the database', async () => {
    await using receiver = await openReceiver((received, response) => {
      response
        .writeHead(500, { 'X-Echo': String(received.headers.authorization) })
        .end(JSON.stringify(received.headers));
    });
    const id = await signedDestination(receiver.url, { Authorization: HEADER });
    const report = await asking.checkUp(id);
    assert.equal(report.grade, 'danger');
    assert.doesNotMatch(JSON.stringify(report), /clear-header-value|a shared secret/);
    assert.doesNotMatch(stack.postgres.dump(), /clear-header-value|a shared secret/);
    const { items } = await stack.get<Audit>('GET', '/audit-log');
    const entries = items.filter(({ action, objectId }) => action === 'destination.checked_up' && objectId === id);
    assert.deepEqual(
      entries.map(({ details }) => details),
      [{ targetIndex: 0, checkUpId: report.id }],
    );
  });

  test('that accepts everything finds the danger, and says how to verify', async () => {
    await using receiver = await openReceiver();
    const report = await asking.checkUp(await signedDestination(receiver.url));
    assert.equal(report.grade, 'danger');
    assert.deepEqual(gradesOf(report), {
      right_signature: 'good',
      wrong_signature: 'danger',
      old_timestamp: 'warning',
      repeated_id: 'good',
      large_body: 'good',
      answer_time: bestGrade(report),
    });
    const wrong = stepOf(report, 'wrong_signature');
    assert.match(wrong.sentence ?? '', /accepts a call with a wrong signature/);
    assert.match(wrong.remedy ?? '', /webhook-signature .* 401/);
    assert.equal(wrong.docs, 'docs/use/receiving.md#signatures');
    assert.match(stepOf(report, 'old_timestamp').sentence ?? '', /replay/);
  });

  test('that verifies only the body finds that old calls can be replayed', async () => {
    await using receiver = await openReceiver((received, response) => {
      const isRight = verifyBody(SECRET, received.body, String(received.headers['x-signature']));
      answer(isRight ? 200 : 403)(received, response);
    });
    const report = await asking.checkUp(await signedDestination(receiver.url));
    const { wrong_signature: wrong, old_timestamp: old } = gradesOf(report);
    assert.deepEqual([wrong, old, report.grade], ['good', 'warning', 'warning']);
  });

  test('that refuses large bodies, or ids that it has seen, finds it with the remedy', async () => {
    const seen = new Set<unknown>();
    await using receiver = await openReceiver((received, response) => {
      const id = received.headers['webhook-id'];
      const refusal = !isGenuine(received) ? 401 : seen.has(id) ? 409 : received.body.length > 16_384 ? 413 : undefined;
      seen.add(id);
      answer(refusal ?? 200)(received, response);
    });
    const report = await asking.checkUp(await signedDestination(receiver.url));
    assert.equal(report.grade, 'warning');
    const [large, repeated] = [stepOf(report, 'large_body'), stepOf(report, 'repeated_id')];
    assert.deepEqual([large.grade, large.answer?.status], ['warning', 413]);
    assert.match(large.remedy ?? '', /512,000 bytes/);
    assert.deepEqual([repeated.grade, repeated.answer?.status], ['warning', 409]);
    assert.match(repeated.sentence ?? '', /409 .* 200 the first time/);
  });

  test('that answers slowly warns', async () => {
    await using receiver = await openReceiver((received, response) => {
      const startedAt = performance.now();
      const isSlow = received.headers['x-millrace-attempt'] === '2';
      void until(() => !isSlow || performance.now() - startedAt > 2_600).then(() => verify(received, response));
    });
    const id = await signedDestination(receiver.url);
    let report: CheckUp | undefined;
    // A machine that is busy just then makes the slow answer a late one.
    await until(async () => {
      report = await asking.checkUp(id);
      return stepOf(report, 'answer_time').grade === 'warning';
    }, MINUTE_MS);
    assert.ok((report?.facts?.slowestMs ?? 0) > 2_500);
    assert.equal(report?.grade, 'warning');
  });

  test('that never answers is a danger, and it is asked once', async () => {
    await using hanging = await openReceiver(() => undefined);
    const late = await asking.checkUp(await signedDestination(hanging.url));
    assert.deepEqual([late.grade, stepOf(late, 'answer_time').grade], ['danger', 'danger']);
    assert.equal(stepOf(late, 'right_signature').answer?.errorClass, 'timeout');
    assert.match(stepOf(late, 'right_signature').remedy ?? '', /5 seconds/);
    assert.equal(hanging.received.length, 1);
  });

  test('that is away says so in the first step, and sends nothing more', async () => {
    const gone = await openReceiver();
    const id = await signedDestination(gone.url);
    await gone[Symbol.asyncDispose]();
    const report = await asking.checkUp(id);
    assert.deepEqual([report.state, report.grade], ['done', 'danger']);
    const first = stepOf(report, 'right_signature');
    assert.deepEqual([first.grade, first.answer?.errorClass], ['danger', 'connection_refused']);
    assert.match(first.sentence ?? '', /127\.0\.0\.1 refused the connection.*No event arrives/);
    const rest = report.steps.slice(1);
    assert.deepEqual(new Set(rest.map(({ grade }) => grade)), new Set(['unknown']));
    assert.deepEqual(new Set(rest.map((step) => step.answer)), new Set([null]));
  });

  test('of a destination without a secret says what that means', async () => {
    await using receiver = await openReceiver(answer(200, { Connection: 'close' }));
    const { destinationId } = await addScene(stack, receiver.url);
    const report = await asking.checkUp(destinationId);
    assert.deepEqual([stepOf(report, 'wrong_signature').grade, report.grade], ['danger', 'danger']);
    assert.match(stepOf(report, 'wrong_signature').sentence ?? '', /no shared secret/);
    assert.equal(receiver.received.length, 3);
    assert.equal(report.facts?.keepsConnections, false);
  });

  test('works while the destination is disabled or paused, and goes to the target that it names', async () => {
    await using first = await openReceiver();
    await using second = await openReceiver(verify);
    const { sourceId } = await addScene(stack, first.url);
    const targets = [{ url: first.url }, { url: second.url }];
    const id = await addDestination(stack, sourceId, { targets, sharedSecret: SECRET });
    await stack.get('PATCH', `/destinations/${id}`, { enabled: false, paused: true });
    const report = await asking.checkUp(id, { targetIndex: 1 });
    assert.deepEqual([report.grade, report.targetIndex], [bestGrade(report), 1]);
    assert.deepEqual([first.received.length, second.received.length], [0, 5]);
    const none = await asking.start(id, { targetIndex: 2 });
    assert.deepEqual([none.status, none.body.errors?.[0]?.path], [400, '/targetIndex']);
  });
});

suite('check-ups', () => {
  test('run one at a time for a destination, and the next replaces the report', async () => {
    await using receiver = await openReceiver();
    const { destinationId } = await addScene(stack, receiver.url);
    assert.equal((await stack.ask('GET', pathOf(destinationId))).status, 404, 'there was none yet');
    const report = await asking.checkUp(destinationId);
    assert.notEqual((await asking.checkUp(destinationId)).id, report.id);
    await setRunning(destinationId);
    const again = await asking.start(destinationId);
    assert.deepEqual([again.status, again.body.code], [409, 'wrong_state']);
    assert.match(again.body.errors?.[0]?.message ?? '', /is running: GET/);
    assert.equal(receiver.received.length, 6);
    await setEnded(destinationId);
  });

  test('that are started at the same moment are one', async () => {
    const first = holdFirst();
    await using receiver = await openReceiver(first.respond);
    const { destinationId } = await addScene(stack, receiver.url);
    const answers = await Promise.all(Array.from({ length: 4 }, () => asking.start(destinationId)));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    assert.deepEqual(statuses, [201, 409, 409, 409]);
    first.release();
    await asking.ended(destinationId);
  });

  test('run two at a time for a workspace, beside tests, and another workspace is not kept waiting', async () => {
    await using receiver = await openReceiver();
    const ids: string[] = [];
    for (let made = 0; made < 3; made += 1) ids.push((await addScene(stack, receiver.url)).destinationId);
    const [first = '', second = '', third = ''] = ids;
    for (const id of [first, second]) {
      await asking.checkUp(id);
      await setRunning(id);
    }
    const refused = await asking.start(third);
    assert.deepEqual([refused.status, refused.body.code], [429, 'too_many_questions']);
    assert.equal((await stack.ask('GET', pathOf(third))).status, 404, 'nothing of it was stored');
    await stack.get('POST', `/destinations/${third}/test`, {});
    const other = await addOther(receiver.url);
    assert.equal((await other('POST', pathOf(other.destinationId), {})).status, 201);
    await until(async () => (await other('GET', pathOf(other.destinationId))).body.state === 'done', MINUTE_MS);
    assert.equal((await other('GET', pathOf(first))).status, 404);
    assert.equal((await other('POST', pathOf(third), {})).status, 404);
    for (const id of [first, second]) await setEnded(id);
    assert.equal((await asking.checkUp(third)).state, 'done');
  });

  test('end without another request when the destination is deleted', async () => {
    const first = holdFirst();
    await using receiver = await openReceiver(first.respond);
    const id = await signedDestination(receiver.url);
    assert.equal((await asking.start(id)).status, 201);
    await until(() => receiver.received.length === 1);
    await stack.get('DELETE', `/destinations/${id}`);
    first.release();
    assert.equal((await stack.ask('GET', pathOf(id))).status, 404);
    await staysTrueFor(500, () => receiver.received.length === 1);
    assert.equal((await asking.start(id)).status, 404);
  });

  test('end without another request when the destination is changed', async () => {
    await using next = await openReceiver();
    let report: CheckUp | undefined;
    // On a machine that is busy just then, the held call is late before deliver has heard of the change.
    await until(async () => {
      const first = holdFirst();
      await using receiver = await openReceiver(first.respond);
      const id = await signedDestination(receiver.url);
      assert.equal((await asking.start(id)).status, 201);
      await until(() => receiver.received.length === 1);
      await stack.get('PATCH', `/destinations/${id}`, { settings: { targets: [{ url: next.url }] } });
      await until(() => JSON.stringify(stack.view().destination(id)?.settings).includes(next.url));
      first.release();
      report = await asking.ended(id);
      return report.state === 'failed';
    }, MINUTE_MS);
    assert.equal(report?.grade, null);
    assert.match(report?.sentence ?? '', /was changed while the check-up ran.*Start it again/);
    assert.equal(next.received.length, 0);
  });
});

/** As if its process were in the middle of it, for an hour. */
const setRunning = (destinationId: string) =>
  stack.sql(
    `UPDATE check_ups SET state = 'running', ended_at = NULL, leased_until = now() + interval '1 hour'
    WHERE destination_id = $1`,
    [destinationId],
  );
const setEnded = (destinationId: string) =>
  stack.sql(`UPDATE check_ups SET state = 'done', ended_at = now() WHERE destination_id = $1`, [destinationId]);

/** Another workspace, with a destination. */
async function addOther(url: string) {
  const store = stack.store();
  const token = await addToken(store, await addWorkspace(store), { role: 'owner' });
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const answered = await fetch(`${stack.controlUrl()}${path}`, init);
    return { status: answered.status, body: (await answered.json()) as { id: string; state?: string } };
  };
  const { body: source } = await ask('POST', '/sources', { name: 'Other' });
  const settings = { targets: [{ url }] };
  const made = await ask('POST', '/destinations', { sourceId: source.id, catalog: 'Webhooks', settings });
  await until(() => stack.view().destination(made.body.id) !== undefined);
  return Object.assign(ask, { destinationId: made.body.id });
}
