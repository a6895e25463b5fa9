/** Every way in (paths, keys, content types, browsers, pixels), and the event that is stored. */
import assert from 'node:assert/strict';
import { after, beforeEach, suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { CALL_TYPES } from '@millrace/contract';
import { SOURCE, startCollect, WRITE_KEY } from '../../testing/bad-inputs/running-collect.ts';
import {
  BASIC,
  basic,
  jsonOf,
  type HttpAnswer,
  send,
  sendWithKey,
  type ToSend,
} from '../../testing/bad-inputs/send.ts';
import { hashOfKey } from './find-write-key.ts';

const ANY_CALL = '{"userId":"u1","event":"E","groupId":"g1","previousId":"p1"}';
const BATCH = '{"batch":[{"type":"track","userId":"u1","event":"E"}]}';
const WITH_KEY = `{"userId":"u1","event":"E","writeKey":"${WRITE_KEY}"}`;

const collect = await startCollect();
after(() => collect[Symbol.asyncDispose]());
beforeEach(() => collect.takeStored());

suite('paths', () => {
  for (const type of CALL_TYPES) {
    const short = type.slice(0, 1);
    test(`${type} has a long and a short path, each with and without a slash at the end`, async () => {
      for (const path of [`/v1/${type}`, `/v1/${type}/`, `/v1/${short}`, `/v1/${short}/`, `/v1/${type}?x=1`]) {
        await assertStored({ path, body: ANY_CALL, headers: { Authorization: BASIC } }, { type });
      }
    });
  }

  test('batch, import and b are the same', async () => {
    for (const path of ['/v1/batch', '/v1/batch/', '/v1/import', '/v1/import/', '/v1/b', '/v1/b/']) {
      await assertStored({ path, body: BATCH, headers: { Authorization: BASIC } }, { type: 'track' });
    }
  });

  test('what a browser library reports about itself is taken and dropped', async () => {
    const answer = await send(collect.port, { path: '/v1/m', body: '{"series":[]}' });
    assert.deepEqual([answer.status, jsonOf(answer)], [200, { success: true }]);
    assert.deepEqual(await collect.takeStored(), []);
  });

  test('any other path is not found', async () => {
    for (const path of ['/', '/v1', '/v1/', '/v1/delete', '/v1/Track', '/v1//track', '/v2/track', '/v1/track/x']) {
      const answer = await sendWithKey(collect.port, { path, body: ANY_CALL });
      assert.equal(answer.status, 404, path);
      assert.partialDeepStrictEqual(jsonOf(answer), { success: false, code: 'not_found' });
    }
    assert.deepEqual(await collect.takeStored(), []);
  });

  test('any other method is not allowed, and the answer says which is', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const answer = await sendWithKey(collect.port, { method, path: '/v1/track' });
      assert.deepEqual([answer.status, answer.headers.allow], [405, 'POST, OPTIONS']);
    }
    const answer = await sendWithKey(collect.port, { path: '/healthz' });
    assert.deepEqual([answer.status, answer.headers.allow], [405, 'GET, OPTIONS']);
  });

  test('health is asked with GET or HEAD', async () => {
    for (const path of ['/healthz', '/readyz']) {
      assert.equal((await send(collect.port, { method: 'GET', path })).status, 200);
      const head = await send(collect.port, { method: 'HEAD', path });
      assert.deepEqual([head.status, head.bytes.length], [200, 0]);
    }
  });
});

suite('write keys', () => {
  const ways: Record<string, ToSend> = {
    'as the user of Basic': { path: '/v1/track', body: ANY_CALL, headers: { Authorization: BASIC } },
    'as the user of Basic with a password': {
      path: '/v1/track',
      body: ANY_CALL,
      headers: { Authorization: basic(`${WRITE_KEY}:pw`) },
    },
    'in Basic without a colon': { path: '/v1/track', body: ANY_CALL, headers: { Authorization: basic(WRITE_KEY) } },
    'in the body of a call': { path: '/v1/track', body: WITH_KEY },
    'in the body of a batch': { path: '/v1/batch', body: `{"writeKey":"${WRITE_KEY}",${BATCH.slice(1)}` },
    'in the first call of a batch': { path: '/v1/batch', body: `{"batch":[{"type":"track",${WITH_KEY.slice(1)}]}` },
    'in the body beside an empty Basic': { path: '/v1/track', body: WITH_KEY, headers: { Authorization: basic(':') } },
    'in the header, the body and each call': {
      path: '/v1/b',
      headers: { Authorization: BASIC },
      body: `{"writeKey":"${WRITE_KEY}","batch":[{"type":"track",${WITH_KEY.slice(1)},{"type":"track",${WITH_KEY.slice(1)}]}`,
    },
  };
  for (const [way, toSend] of Object.entries(ways)) {
    test(`are taken ${way}, and never stored`, () => assertStored(toSend, { userId: 'u1', event: 'E' }));
  }

  test('are taken in no other form, also after they were seen in the right one', async () => {
    await assertStored({ path: '/v1/track', body: WITH_KEY }, {});
    await assertStored({ path: '/v1/track', body: ANY_CALL, headers: { Authorization: BASIC } }, {});
    const others: ToSend[] = [
      { path: '/v1/track', body: ANY_CALL, headers: { Authorization: WRITE_KEY } },
      { path: '/v1/track', body: ANY_CALL, headers: { Authorization: `Digest ${BASIC.slice(6)}` } },
      { path: '/v1/track', body: JSON.stringify({ userId: 'u1', event: 'E', writeKey: BASIC }) },
      { path: `/v1/track?writeKey=${WRITE_KEY}`, body: ANY_CALL },
    ];
    for (const toSend of others) assert.equal((await send(collect.port, toSend)).status, 401);
    assert.deepEqual(await collect.takeStored(), []);
  });
});

suite('content types', () => {
  const body = WITH_KEY;
  const ways: Record<string, ToSend> = {
    'none at all': { path: '/v1/track', body },
    'JSON with a charset': { path: '/v1/track', body, headers: { 'Content-Type': 'application/json;charset=UTF-8' } },
    'plain text, as browsers send': { path: '/v1/t', body, headers: { 'Content-Type': 'text/plain' } },
    nonsense: { path: '/v1/track', body, headers: { 'Content-Type': 'a/b; c' } },
    'a form that is gzip, as RudderStack sends': {
      path: '/v1/track',
      body: gzipSync(body),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Encoding': 'gzip' },
    },
    'chunks of plain text and gzip, as phones send': {
      path: '/v1/t',
      body: gzipSync(body),
      headers: { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip', 'Transfer-Encoding': 'chunked' },
    },
  };
  for (const [way, toSend] of Object.entries(ways)) {
    test(`do not matter: ${way}`, () => assertStored(toSend, { userId: 'u1', event: 'E' }));
  }
});

suite('the address of the sender', () => {
  const track = { path: '/v1/track', headers: { Authorization: BASIC } };
  const direct = '{"userId":"u1","event":"E","context":{"direct":true}}';

  test('is added to calls of browsers and to those that ask for it', async () => {
    await assertAddress({ path: '/v1/t', body: WITH_KEY }, '127.0.0.1');
    await assertAddress(
      { ...track, body: ANY_CALL, headers: { ...track.headers, Origin: 'https://a.example' } },
      '127.0.0.1',
    );
    await assertAddress({ ...track, body: direct }, '127.0.0.1');
    await assertAddress(
      { ...track, path: '/v1/batch', body: `{"context":{"direct":true},${BATCH.slice(1)}` },
      '127.0.0.1',
    );
  });

  test('is kept out of all others', async () => {
    await assertAddress({ ...track, body: ANY_CALL }, undefined);
    await assertAddress({ ...track, body: direct.replace('true', '"true"') }, undefined);
  });

  test('is left as the client gave it', async () => {
    await assertAddress({ path: '/v1/t', body: `{"context":{"ip":"0.0.0.0"},${WITH_KEY.slice(1)}` }, '0.0.0.0');
  });

  test('is read from X-Forwarded-For only as far as trusted proxies wrote it', async () => {
    const trusting = await collect.serve({ trustedProxies: ['127.0.0.0/8', '10.0.0.0/8', 'fd00::/8'] });
    const expected: [string, string, string][] = [
      ['203.0.113.9', '127.0.0.1', '203.0.113.9'],
      ['6.6.6.6, 203.0.113.9', '127.0.0.1', '203.0.113.9'],
      ['6.6.6.6, 203.0.113.9, 10.1.2.3', '127.0.0.1', '203.0.113.9'],
      ['6.6.6.6, ::ffff:203.0.113.9, fd00::1', '127.0.0.1', '203.0.113.9'],
      ['2001:db8::7', '127.0.0.1', '2001:db8::7'],
      ['nonsense', '127.0.0.1', '127.0.0.1'],
      ['6.6.6.6, nonsense, 10.1.2.3', '127.0.0.1', '10.1.2.3'],
      ['', '127.0.0.1', '127.0.0.1'],
    ];
    for (const [forwarded, untrustedSees, trustedSees] of expected) {
      const toSend = { path: '/v1/t', body: WITH_KEY, headers: { 'X-Forwarded-For': forwarded } };
      await assertAddress(toSend, untrustedSees);
      await assertAddress(toSend, trustedSees, trusting.port);
    }
  });
});

suite('a request sent again', () => {
  const named = '{"messageId":"m1","userId":"u1","event":"E"}';
  const batch =
    '{"batch":[{"type":"track","messageId":"b1","userId":"u1","event":"E"},{"type":"page","messageId":"b2","userId":"u1"}]}';

  test('is stored once and answered alike, compressed or not', async () => {
    for (const [path, text] of [
      ['/v1/track', named],
      ['/v1/batch', batch],
    ] as const) {
      const answers = [
        await sendWithKey(collect.port, { path, body: text }),
        await sendWithKey(collect.port, { path, body: text }),
        await sendWithKey(collect.port, { path, body: gzipSync(text), headers: { 'Content-Encoding': 'gzip' } }),
      ];
      assert.deepEqual(
        answers.map(({ bytes }) => bytes.toString()),
        Array.from({ length: 3 }, () => '{"success":true}'),
      );
      assert.equal((await collect.takeStored()).length, 1);
    }
  });

  test('is stored once also when both are on their way at the same time', async () => {
    const body = named.replace('m1', 'twins');
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => sendWithKey(collect.port, { path: '/v1/track', body })),
    );
    assert.ok(answers.every(({ status }) => status === 200));
    assert.equal((await collect.takeStored()).length, 1);
  });

  test('by another source is another request', async () => {
    await collect.putSource({ ...SOURCE, id: 'src_other', writeKeyHashes: [hashOfKey('other-key')] });
    const body = named.replace('m1', 'shared');
    await sendWithKey(collect.port, { path: '/v1/track', body });
    await send(collect.port, { path: '/v1/track', body, headers: { Authorization: basic('other-key') } });
    const subjects = (await collect.takeStored()).map(({ subject }) => subject.replace(/\.\d\./, '.'));
    assert.deepEqual(subjects.sort(), ['events.src_other', `events.${SOURCE.id}`]);
  });

  test('without any id cannot be recognised', async () => {
    await sendWithKey(collect.port, { path: '/v1/track', body: ANY_CALL });
    await sendWithKey(collect.port, { path: '/v1/track', body: ANY_CALL });
    assert.equal((await collect.takeStored()).length, 2);
  });
});

test('the log knows no write key, and of nothing that failed inside', () => {
  assert.deepEqual(collect.failures(), []);
});

async function assertStored(toSend: ToSend, event: object, port = collect.port): Promise<void> {
  const answer: HttpAnswer = await send(port, toSend);
  assert.deepEqual([answer.status, answer.bytes.toString()], [200, '{"success":true}']);
  const [stored, ...others] = await collect.takeStored();
  assert.deepEqual(others, []);
  assert.partialDeepStrictEqual(stored?.events[0], event);
  assert.ok(stored?.bytes.includes(WRITE_KEY) === false, 'the write key stands in the stored bytes');
  assert.ok(!JSON.stringify(stored.events).includes('writeKey'));
}

async function assertAddress(toSend: ToSend, ip: string | undefined, port = collect.port): Promise<void> {
  assert.equal((await send(port, toSend)).status, 200);
  const [stored] = await collect.takeStored();
  assert.equal(stored?.events[0]?.context['ip'], ip);
  if (ip === undefined) assert.ok(!stored?.head.includes('127.0.0.1') && !stored?.bytes.includes('127.0.0.1'));
}
