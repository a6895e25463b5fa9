import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { TestQuestion } from '../../domain/ask.ts';
import type { DestinationConfig } from '../../domain/configuration.ts';
import type { DeliverConfig } from '../../stream/config/config-bucket.ts';
import { openTestClient } from '../../../testing/client.ts';
import { openReceiver } from '../../../testing/receiver.ts';
import { aWebhook, DESTINATION, EVENT } from '../../../testing/samples.ts';
import { retrySchedule } from '../attempt/retry-schedule.ts';
import { fixedHeaders, type Webhook } from '../attempt/webhook.ts';
import { sendTest } from './send-test.ts';

const QUESTION: TestQuestion = {
  kind: 'test',
  workspaceId: DESTINATION.workspaceId,
  destinationId: DESTINATION.id,
  updatedAt: DESTINATION.updatedAt,
  targetIndex: 0,
  event: EVENT,
};

/** The configuration as this process knows it: nothing, or this destination, and a way to learn of a newer one. */
function openView(known?: DestinationConfig) {
  const listeners = new Set<(id: string) => void>();
  const state = { known };
  const view = {
    destination: () => state.known,
    onDestination(changed: (id: string) => void) {
      listeners.add(changed);
      return { [Symbol.dispose]: () => listeners.delete(changed) };
    },
  } as unknown as DeliverConfig;
  const learn = (next: DestinationConfig) => {
    state.known = next;
    for (const changed of listeners) changed(next.id);
  };
  return { view, learn, listeners };
}

const ADDRESSES: Record<string, string> = { 'inside.example': '10.1.2.3', 'allowed.example': '127.0.0.1' };

function openNeeds(config: DeliverConfig, webhook: Webhook = aWebhook()) {
  const resolve = (name: string) => Promise.resolve({ ok: true as const, addresses: [ADDRESSES[name] ?? ''] });
  const client = openTestClient({ resolve });
  const needs = { config, webhookOf: () => webhook, client, schedule: retrySchedule(1), now: Date.now };
  return { ...needs, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
}

const to = (url: string, headers: Record<string, string> = {}) =>
  aWebhook({ targets: [{ url, headers: fixedHeaders(headers) }] });

suite('a test', () => {
  test('of a name that leads inside sends nothing, and shows no address', async () => {
    await using needs = openNeeds(openView(DESTINATION).view, to('https://inside.example/hook'));
    const answer = await sendTest(QUESTION, needs);
    assert.ok(answer.kind === 'tested');
    const { tested } = answer;
    assert.deepEqual(
      [tested.answer.errorClass, tested.answer.address, tested.outcome.kind],
      ['address_forbidden', null, 'discarded'],
    );
    assert.doesNotMatch(JSON.stringify(answer), /10\.1\.2\.3/);
  });

  test('of a name in an allowed network shows no address, of an address the address', async () => {
    await using receiver = await openReceiver();
    const named = receiver.url.replace('127.0.0.1', 'allowed.example');
    for (const [url, address] of [
      [named, null],
      [receiver.url, '127.0.0.1'],
    ] as const) {
      await using needs = openNeeds(openView(DESTINATION).view, to(url));
      const answer = await sendTest(QUESTION, needs);
      assert.equal(answer.kind === 'tested' && answer.tested.answer.status, 200);
      assert.equal(answer.kind === 'tested' ? answer.tested.answer.address : undefined, address);
    }
  });

  test('hides values of headers that the receiver sends back, whole, in part or escaped', async () => {
    const secret = 'Bearer to"ken-1234';
    await using receiver = await openReceiver(({ headers }, response) => {
      const text = String(headers.authorization);
      response.writeHead(500, { 'Retry-After': 'to"ken-1234' });
      response.end(`${text} ${text.slice(7)} ${JSON.stringify({ text })} ${JSON.stringify(text.slice(7))}`);
    });
    await using needs = openNeeds(openView(DESTINATION).view, to(receiver.url, { Authorization: secret, 'X-On': '1' }));
    const answer = await sendTest(QUESTION, needs);
    assert.ok(answer.kind === 'tested');
    assert.equal(answer.tested.answer.body, '[hidden] [hidden] {"text":"[hidden]"} "[hidden]"');
    assert.doesNotMatch(JSON.stringify(answer), /ken-1234/);
  });

  test('hides the part of a header value that is left where a long answer is cut', async () => {
    const secret = 'Bearer to"ken-1234';
    const told = [secret, 'to"ken-1234', 'to\\"ken-1234'];
    for (const text of told) {
      for (let left = 1; left <= text.length; left += 1) {
        const room = 16_384 - left;
        await using receiver = await openReceiver((_request, response) => {
          response.end('.'.repeat(room) + text + '.'.repeat(100));
        });
        await using needs = openNeeds(openView(DESTINATION).view, to(receiver.url, { Authorization: secret }));
        const answer = await sendTest(QUESTION, needs);
        assert.ok(answer.kind === 'tested');
        assert.equal(answer.tested.answer.body, `${'.'.repeat(room)}[hidden]`);
      }
    }
  });

  test('shows a short answer to its last letter, although a header value begins with that letter', async () => {
    await using receiver = await openReceiver((_request, response) => void response.end('B'));
    await using needs = openNeeds(openView(DESTINATION).view, to(receiver.url, { Authorization: 'Bearer token-1234' }));
    const answer = await sendTest(QUESTION, needs);
    assert.equal(answer.kind === 'tested' && answer.tested.answer.body, 'B');
  });

  test('waits for the version of the destination that control saw, and not for long', async () => {
    await using receiver = await openReceiver();
    const { view, learn, listeners } = openView(DESTINATION);
    await using needs = openNeeds(view, to(receiver.url));
    const newer = { ...QUESTION, updatedAt: '2026-06-01T00:00:00Z' };
    const asked = sendTest(newer, needs);
    assert.equal(listeners.size, 1);
    learn({ ...DESTINATION, updatedAt: newer.updatedAt });
    assert.equal((await asked).kind, 'tested');
    assert.equal(listeners.size, 0);
    const late = await sendTest({ ...QUESTION, updatedAt: '2026-06-02T00:00:00Z' }, needs);
    assert.match(late.kind === 'not_applied' ? late.why : '', /has not heard of this version/);
    const others = await sendTest({ ...QUESTION, workspaceId: 'ws_2' }, needs);
    assert.equal(others.kind, 'not_applied');
    assert.equal(receiver.received.length, 1);
  });

  test('says so when the settings cannot be read, or there is no such target', async () => {
    await using unreadable = openNeeds(openView(DESTINATION).view, aWebhook({ targets: [] }));
    const first = await sendTest(QUESTION, unreadable);
    assert.match(first.kind === 'not_applied' ? first.why : '', /the same MILLRACE_KEYS/);
    await using needs = openNeeds(openView(DESTINATION).view);
    const second = await sendTest({ ...QUESTION, targetIndex: 1 }, needs);
    assert.match(second.kind === 'not_applied' ? second.why : '', /has no target 1/);
  });
});
