import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { MAX_BATCHED_BYTES, signingKey, signStandardWebhook, verifyBody } from '@millrace/contract';
import type { CheckUpQuestion, CheckUpVariation } from '../../domain/ask.ts';
import type { DeliverConfig } from '../../stream/config/config-bucket.ts';
import { openTestClient } from '../../../testing/client.ts';
import { answer, openReceiver, type Received } from '../../../testing/receiver.ts';
import { aWebhook, DESTINATION, EVENT } from '../../../testing/samples.ts';
import { retrySchedule } from '../attempt/retry-schedule.ts';
import { fixedHeaders, type Webhook } from '../attempt/webhook.ts';
import { sendCheckUp } from './send-check-up.ts';

const SECRET = 'a shared secret';
const NOW = Date.parse('2026-11-16T12:00:00Z');
const PLAIN: CheckUpVariation = { token: 'A'.repeat(22), signature: 'right', ageSeconds: 0, attempt: 1 };

function asking(variation: Partial<CheckUpVariation> = {}): CheckUpQuestion {
  return {
    kind: 'check_up',
    workspaceId: DESTINATION.workspaceId,
    destinationId: DESTINATION.id,
    updatedAt: DESTINATION.updatedAt,
    targetIndex: 0,
    event: EVENT,
    variation: { ...PLAIN, ...variation },
  };
}

const webhookTo = (url: string, change: Partial<Webhook> = {}) =>
  aWebhook({ targets: [{ url, headers: fixedHeaders() }], secret: signingKey(SECRET), ...change });

async function send(question: CheckUpQuestion, webhook: Webhook) {
  await using client = openTestClient();
  const config = { destination: () => DESTINATION } as unknown as DeliverConfig;
  return await sendCheckUp(question, {
    config,
    webhookOf: () => webhook,
    client,
    schedule: retrySchedule(1),
    now: () => NOW,
  });
}

function standardSignature({ headers, body }: Received, secret: string): string {
  const timestampSeconds = Number(headers['webhook-timestamp']);
  return signStandardWebhook([secret], { id: String(headers['webhook-id']), timestampSeconds, body });
}

suite('a request of a check-up', () => {
  test('is a marked test with the signatures, the id and the attempt that it asks for', async () => {
    await using receiver = await openReceiver();
    const sent = await send(asking({ attempt: 2 }), webhookTo(receiver.url));
    assert.equal(sent.kind === 'check_up_sent' && sent.answer.status, 200);
    const [one] = receiver.received;
    assert.ok(one !== undefined);
    assert.equal(one.headers['x-millrace-test'], 'true');
    assert.equal(one.headers['webhook-id'], `test_${PLAIN.token}`);
    assert.equal(one.headers['x-millrace-attempt'], '2');
    assert.equal(one.headers['webhook-signature'], standardSignature(one, SECRET));
    assert.equal(sent.kind === 'check_up_sent' && sent.answer.bytes, Buffer.byteLength(one.body));
  });

  test('with a wrong signature has both signatures of the right form, and neither is right', async () => {
    await using receiver = await openReceiver(answer(401));
    const previousSecret = { key: signingKey('the secret before'), validUntil: NOW + 60_000 };
    await send(asking({ signature: 'wrong' }), webhookTo(receiver.url, { previousSecret }));
    const [one] = receiver.received;
    assert.ok(one !== undefined);
    assert.match(String(one.headers['webhook-signature']), /^v1,[\w+/]{43}=$/);
    assert.match(String(one.headers['x-signature']), /^[0-9a-f]{40}$/);
    assert.notEqual(one.headers['webhook-signature'], standardSignature(one, SECRET));
    assert.equal(verifyBody(SECRET, one.body, String(one.headers['x-signature'])), false);
  });

  test('with an old timestamp is rightly signed over it, and never by a secret whose time is over', async () => {
    await using receiver = await openReceiver(answer(401));
    const previousSecret = { key: signingKey('the secret before'), validUntil: NOW - 60_000 };
    await send(asking({ ageSeconds: 3_600 }), webhookTo(receiver.url, { previousSecret }));
    const [one] = receiver.received;
    assert.ok(one !== undefined);
    assert.equal(Number(one.headers['webhook-timestamp']), NOW / 1_000 - 3_600);
    assert.equal(one.headers['webhook-signature'], standardSignature(one, SECRET));
    assert.ok(Date.parse(String(one.headers['x-millrace-give-up-at'])) > NOW);
  });

  test('that is large fills a batch where the destination gets batches, under the id of the test', async () => {
    await using receiver = await openReceiver();
    const padding = 'x'.repeat(30_000);
    const question = { ...asking({ fillsBatch: true }), event: { ...EVENT, properties: { padding } } };
    const sent = await send(question, webhookTo(receiver.url, { format: 'batch' }));
    const [one] = receiver.received;
    assert.ok(one !== undefined && sent.kind === 'check_up_sent');
    const { events } = JSON.parse(one.body) as { events: { id: string }[] };
    assert.equal(events.length, 16);
    assert.equal(new Set(events.map(({ id }) => id)).size, 16);
    assert.ok(one.body.length <= MAX_BATCHED_BYTES && one.body.length > MAX_BATCHED_BYTES - 32_000);
    assert.equal(one.headers['webhook-id'], `test_${PLAIN.token}`);
    assert.equal(one.headers['webhook-signature'], standardSignature(one, SECRET));
    assert.deepEqual([sent.answer.events, sent.answer.bytes], [16, one.body.length]);
  });

  test('that is large is one event where the destination gets events alone', async () => {
    await using receiver = await openReceiver();
    const sent = await send(asking({ fillsBatch: true }), webhookTo(receiver.url));
    assert.equal(sent.kind === 'check_up_sent' && sent.answer.events, 1);
    assert.equal(receiver.received[0]?.headers['x-millrace-attempt'], '1');
  });

  test('is not sent to a destination that was changed meanwhile', async () => {
    await using receiver = await openReceiver();
    const sent = await send({ ...asking(), updatedAt: '2025-01-01T00:00:00Z' }, webhookTo(receiver.url));
    assert.deepEqual(sent, { kind: 'changed' });
    assert.equal(receiver.received.length, 0);
  });

  test('says that the receiver closes its connections', async () => {
    for (const [header, isClosing] of [
      ['close', true],
      ['Keep-Alive, Close', true],
      ['keep-alive', false],
    ] as const) {
      await using receiver = await openReceiver(answer(200, { Connection: header }));
      const sent = await send(asking(), webhookTo(receiver.url));
      assert.equal(sent.kind === 'check_up_sent' && sent.answer.isClosing, isClosing, header);
    }
  });
});
