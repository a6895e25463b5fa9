import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { type AcceptedEvent, signingKey, verifyStandardWebhook } from '@millrace/contract';
import { type Delivery, encodeDeliveries, eventOrder, requestOrder, RETRY_WINDOW_MS } from '../../domain/delivery.ts';
import { readableDeliveries } from '../../domain/read-deliveries.ts';
import { batchId, makeBatch, makePosts } from './make-posts.ts';
import { aDelivery, aWebhook, EVENT } from '../../../testing/samples.ts';
import { fixedHeaders, type Webhook } from './webhook.ts';

const NOW = 1_794_701_326_999;
const ROOT = new URL('../../../../', import.meta.url);

function postsOf(delivery: Partial<Delivery>, webhook: Partial<Webhook>, now = NOW) {
  return makePosts(aDelivery(delivery), aWebhook(webhook), { now, windowMs: RETRY_WINDOW_MS, standing: 'unknown' });
}

/** The one POST of a delivery to one target. */
function postOf(delivery: Partial<Delivery> = {}, webhook: Partial<Webhook> = {}, now = NOW) {
  const [post, ...others] = postsOf(delivery, webhook, now);
  assert.equal(others.length, 0);
  const pairs = pairsOf(post?.headers ?? []);
  return { body: post?.body, pairs, names: pairs.map(([name]) => name), header: new Map(pairs) };
}

function pairsOf(headers: readonly string[]): [string, string][] {
  return Array.from({ length: headers.length / 2 }, (_, index) => [
    headers[index * 2] ?? '',
    headers[index * 2 + 1] ?? '',
  ]);
}

type Case = { name: string; input: string; expect: string; format?: string; scheme?: string };

function casesOf(file: string): Case[] {
  const text = readFileSync(new URL(`contract/cases/${file}`, ROOT), 'utf8');
  return (JSON.parse(text) as { cases: Case[] }).cases;
}

suite('the body, by contract/cases/bodies.json', () => {
  const isFormat = (format?: string) => format === 'documented' || format === 'full';
  for (const { name, input, expect, format } of casesOf('bodies.json').filter((each) => isFormat(each.format))) {
    test(`${name}; and once more after it waited in a lane`, () => {
      const event = JSON.parse(input) as AcceptedEvent;
      const webhook = { format: format === 'full' ? 'full' : 'documented' } as const;
      assert.equal(postOf({ event }, webhook).body, expect);
      const [waited] = readableDeliveries(encodeDeliveries([JSON.stringify(aDelivery({ event }))]), '1');
      assert.equal(postOf(waited ?? {}, webhook).body, expect);
    });
  }
});

suite('the signatures, by contract/cases/signatures.json', () => {
  const OURS =
    '{"version":1,"type":"track","userId":"u1","event":"E","properties":{},"timestamp":"2026-11-15T00:08:46.123Z","context":{}}';
  type Input = { secret?: string; secrets?: string[]; body: string };
  const ours = casesOf('signatures.json')
    .map((each) => ({ ...each, input: JSON.parse(each.input) as Input }))
    .filter(({ input }) => input.body === OURS);

  test('there are cases of both schemes over the body of our event', () => {
    assert.equal(postOf().body, OURS);
    assert.deepEqual(new Set(ours.map(({ scheme }) => scheme)), new Set(['hmac-sha1', 'standard-webhooks']));
  });

  for (const { name, scheme, input, expect } of ours) {
    test(name, () => {
      const [secret, before] = input.secrets ?? [input.secret];
      const previousSecret = before === undefined ? undefined : { key: signingKey(before), validUntil: NOW + 1 };
      const key = secret === undefined ? undefined : signingKey(secret);
      const { header } = postOf({ id: 'dlv_1' }, { secret: key, previousSecret });
      const value = header.get(scheme === 'hmac-sha1' ? 'X-Signature' : 'webhook-signature') ?? '';
      assert.equal(JSON.stringify(value), expect);
    });
  }
});

suite('the headers', () => {
  const page = readFileSync(new URL('docs/use/receiving.md', ROOT), 'utf8');

  test('are those of the example in docs/use/receiving.md, in its order and spelling, with its signatures and body', () => {
    const [, example = ''] = /```\nPOST \/webhooks HTTP\/1\.1\n([\s\S]*?)```/.exec(page) ?? [];
    const [head = '', body = ''] = example.split('\n\n');
    const shown = head.split('\n').map((line) => line.split(': '));
    const written = shown.filter(([name]) => name !== 'Host' && name !== 'Content-Length');
    const event = { ...EVENT, event: 'Order Completed', properties: { revenue: 12.5 } };
    const targets = [{ url: 'https://hooks.example.com/webhooks', headers: fixedHeaders({ 'X-Team': 'orders' }) }];
    const [, secret = ''] = /with the secret `([^`]+)`/.exec(page) ?? [];
    const webhook = { targets, secret: signingKey(secret) };
    const order = eventOrder(requestOrder(event.receivedAt, { stream: 0, sequence: 4_711 }), 3);
    const post = postOf({ id: 'dlv_01kxsj7n3qv5d8w2c6e9rzb4ht', order, event }, webhook, 1_794_701_327_000);
    assert.deepEqual(post.pairs, written);
    assert.equal(post.body, body.trim());
    const length = shown.find(([name]) => name === 'Content-Length')?.[1];
    assert.equal(String(Buffer.byteLength(post.body)), length);
  });

  test('without a secret have no signature at all, not even with one that was in use before', () => {
    const previousSecret = { key: signingKey('before'), validUntil: NOW + 1_000 };
    assert.deepEqual(postOf({}, { previousSecret }).names, [
      'User-Agent',
      'Content-Type',
      'webhook-id',
      'webhook-timestamp',
      'X-Millrace-Order',
      'X-Millrace-Attempt',
      'X-Millrace-Give-Up-At',
    ]);
  });

  test('count the attempts, and keep the id and the order', () => {
    const first = postOf({ order: '7' });
    const third = postOf({ order: '7', attempts: 2, firstAttemptAt: NOW - 20_000 });
    assert.equal(first.header.get('X-Millrace-Attempt'), '1');
    assert.equal(third.header.get('X-Millrace-Attempt'), '3');
    assert.equal(first.header.get('webhook-id'), third.header.get('webhook-id'));
    assert.equal(first.header.get('X-Millrace-Order'), '7');
    assert.equal(third.header.get('X-Millrace-Order'), '7');
    assert.equal(first.body, third.body);
  });

  test('give the time of this attempt in whole seconds', () => {
    assert.equal(postOf().header.get('webhook-timestamp'), '1794701326');
  });

  test('name the end of the window: four hours after the first attempt, or after the last resume', () => {
    const giveUpAt = (delivery: Partial<Delivery>, webhook: Partial<Webhook> = {}) =>
      Date.parse(postOf(delivery, webhook).header.get('X-Millrace-Give-Up-At') ?? '');
    assert.equal(giveUpAt({}), NOW + RETRY_WINDOW_MS);
    assert.equal(giveUpAt({ takenAt: NOW - 60_000 }), NOW + RETRY_WINDOW_MS, 'waiting untried does not count');
    assert.equal(giveUpAt({ attempts: 1, firstAttemptAt: NOW - 60_000 }), NOW - 60_000 + RETRY_WINDOW_MS);
    const resumed = { resumedAt: NOW - 1_000 };
    assert.equal(giveUpAt({ attempts: 1, firstAttemptAt: NOW - 60_000 }, resumed), NOW - 1_000 + RETRY_WINDOW_MS);
  });
});

suite('while a secret is replaced', () => {
  const rotating = { secret: signingKey('new'), previousSecret: { key: signingKey('old'), validUntil: NOW + 1 } };
  const signatures = (webhook: Partial<Webhook>, now = NOW) =>
    postOf({}, webhook, now).header.get('webhook-signature')?.split(' ') ?? [];

  test('there are two signatures, the newest first, and each is what its secret alone would give', () => {
    const both = signatures(rotating);
    assert.deepEqual(both, [
      ...signatures({ secret: signingKey('new') }),
      ...signatures({ secret: signingKey('old') }),
    ]);
    assert.equal(both.length, 2);
  });

  test('X-Signature is made with the newest', () => {
    const alone = postOf({}, { secret: signingKey('new') }).header.get('X-Signature');
    assert.equal(postOf({}, rotating).header.get('X-Signature'), alone);
  });

  test('the old one is gone at the moment its time is over', () => {
    assert.equal(signatures(rotating, NOW).length, 2);
    assert.equal(signatures(rotating, NOW + 1).length, 1);
  });
});

suite('several targets', () => {
  const targets = ['a', 'b', 'c'].map((name) => ({
    url: `https://${name}.example/`,
    headers: fixedHeaders({ 'X-Name': name }),
  }));

  test('get the same bytes and signatures, each with its own static headers, in order', () => {
    const posts = postsOf({}, { targets, secret: signingKey('s') });
    assert.deepEqual(
      posts.map(({ url }) => url),
      targets.map(({ url }) => url),
    );
    const [first] = posts;
    for (const [index, { workspaceId, headers, body }] of posts.entries()) {
      assert.equal(workspaceId, 'ws_1');
      assert.equal(body, first?.body);
      const expected = first?.headers.map((value) => (value === 'a' ? targets[index]?.headers.at(-1) : value));
      assert.deepEqual(headers, expected);
    }
  });

  test('that are settled get nothing more', () => {
    const settled = { 'https://a.example/': 'delivered', 'https://c.example/': 'failed' } as const;
    const urls = postsOf({ settled }, { targets }).map(({ url }) => url);
    assert.deepEqual(urls, ['https://b.example/']);
  });
});

suite('a batch', () => {
  const sent = { now: NOW, windowMs: RETRY_WINDOW_MS, standing: 'unknown' } as const;
  const two = [aDelivery({ id: 'dlv_1', order: '8' }), aDelivery({ id: 'dlv_2', order: '7', attempts: 2 })];
  const webhook = aWebhook({ format: 'batch', secret: signingKey('s3cr3t-of-batches') });

  test('is one body with the id, the attempt, the order and the body of each event, signed as a whole', () => {
    const [post, ...others] = makeBatch(
      two.map((delivery) => ({ delivery })),
      webhook,
      sent,
    );
    assert.equal(others.length, 0);
    const body = JSON.parse(String(post?.body));
    const alone = JSON.parse(String(postOf().body));
    assert.deepEqual(body.events, [
      { id: 'dlv_1', attempt: 1, order: '8', body: alone },
      { id: 'dlv_2', attempt: 3, order: '7', body: alone },
    ]);
    const header = new Map(pairsOf(post?.headers ?? []));
    const id = header.get('webhook-id') ?? '';
    const timestampSeconds = Math.floor(NOW / 1_000);
    const signature = header.get('webhook-signature') ?? '';
    const signed = { id, timestampSeconds, signature };
    assert.ok(verifyStandardWebhook('s3cr3t-of-batches', String(post?.body), signed));
    assert.equal(header.has('X-Millrace-Attempt'), false, 'each event has its own');
    assert.equal(header.has('X-Millrace-Give-Up-At'), false);
    assert.equal(header.has('X-Millrace-Order'), false);
  });

  test('has an id that only the same events give, and one event has its own', () => {
    assert.equal(batchId(['dlv_1', 'dlv_2']), batchId(['dlv_1', 'dlv_2']));
    assert.notEqual(batchId(['dlv_1', 'dlv_2']), batchId(['dlv_1', 'dlv_3']));
    assert.match(batchId(['dlv_1', 'dlv_2']), /^bat_/);
    assert.equal(batchId(['dlv_1']), 'dlv_1');
    const { header, body } = postOf({ id: 'dlv_9' }, { format: 'batch' });
    assert.equal(header.get('webhook-id'), 'dlv_9');
    assert.equal(JSON.parse(String(body)).events.length, 1);
  });

  test('goes to the targets that are not settled', () => {
    const targets = ['https://a.example/', 'https://b.example/'].map((url) => ({ url, headers: fixedHeaders() }));
    const settled = { 'https://a.example/': 'delivered' } as const;
    const posts = makeBatch(
      two.map((delivery) => ({ delivery: { ...delivery, settled } })),
      { ...webhook, targets },
      sent,
    );
    assert.deepEqual(
      posts.map(({ url }) => url),
      ['https://b.example/'],
    );
  });
});
