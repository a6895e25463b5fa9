import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { BODIES } from '../../testing/bad-inputs/json-bodies.ts';
import type { BodyCase } from '../../testing/bad-inputs/body-case.ts';
import { SOURCE, startCollect, type Stored, WRITE_KEY } from '../../testing/bad-inputs/running-collect.ts';
import { jsonOf, type HttpAnswer, sendWithKey } from '../../testing/bad-inputs/send.ts';

const SLOWEST_MS = 2_000;

const collect = await startCollect();
after(() => collect[Symbol.asyncDispose]());

suite('a body sent with the right key', () => {
  for (const each of BODIES) {
    test(each.name, async () => {
      const answer = await sendWithKey(collect.port, { path: '/v1/track', ...each });
      checkAnswer(answer, each);
      checkStored(await collect.takeStored(), each);
    });
  }

  test('has made nothing fail inside, and left no key in the log', () => {
    assert.deepEqual(collect.failures(), []);
  });

  test('has changed no object of the process', () => {
    assert.deepEqual(Reflect.ownKeys({}), []);
    for (const name of ['isAdmin', 'a', 'b', 'x', 'userId', 'batch']) assert.equal(Reflect.get({}, name), undefined);
  });
});

function checkAnswer(answer: HttpAnswer, { status, code, rejected }: BodyCase): void {
  assert.equal(answer.status, status, answer.bytes.toString());
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.ok(answer.tookMs < SLOWEST_MS, `took ${answer.tookMs} ms`);
  const body = jsonOf(answer) as { success: boolean; code?: string; rejected?: { code: string }[] };
  assert.equal(body.success, status === 200);
  assert.equal(body.code, code);
  if (status === 200)
    assert.deepEqual(
      body.rejected?.map((refusal) => refusal.code),
      rejected,
    );
}

function checkStored(messages: Stored[], { status, stored = {} }: BodyCase): void {
  assert.equal(messages.length, status === 200 ? 1 : 0);
  for (const message of messages) {
    assert.match(message.subject, new RegExp(`^events\\.\\d\\.${SOURCE.id}$`));
    assert.deepEqual(foreignNames(message.head), []);
    assert.ok(!message.head.includes(WRITE_KEY), 'the write key stands in the stored head');
    assert.ok(!message.bytes.includes(WRITE_KEY), 'the write key stands in the stored bytes');
    assert.ok(!JSON.stringify(message.events).includes(WRITE_KEY), 'the write key stands in the stored events');
    const [event] = message.events;
    assert.ok(event !== undefined, 'answered 200 and stored no event');
    for (const [field, json] of Object.entries(stored)) assert.equal(JSON.stringify(event[field]), json);
  }
}

/** Names in a NATS head that none of our code writes. */
function foreignNames(head: string): string[] {
  const names = [...head.matchAll(/^([^:\r\n]+):/gm)].map((match) => match[1] ?? '');
  return names.filter((name) => !/^(Nats-Msg-Id|Nats-Expected-Stream|Millrace-.*)$/.test(name));
}
