/** Clients without a valid key: their cost is bounded, and clients with a key do not pay for it. */
import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startCollect, WRITE_KEY } from '../../testing/bad-inputs/running-collect.ts';
import { jsonOf, type HttpAnswer, send, sendWithKey } from '../../testing/bad-inputs/send.ts';

const collect = await startCollect();
after(() => collect[Symbol.asyncDispose]());

const GZIP = { 'Content-Encoding': 'gzip' };
const TRACK = '{"type":"track","userId":"u","event":"E"}';
const BATCH = '/v1/batch';
/** Half a megabyte of the JSON that costs most to parse, in 546 bytes. */
const COSTLY = gzipSync(`{"batch":[${'{},'.repeat(169_000)}{}]}`, { level: 9 });

const codeOf = (answer: HttpAnswer) => (jsonOf(answer) as { code?: string }).code;

suite('a request without a key in its header', () => {
  test('costs little when there is none in its body either', async () => {
    const ask = () => send(collect.port, { path: BATCH, headers: GZIP, body: COSTLY });
    const first = await ask();
    assert.deepEqual([first.status, codeOf(first)], [401, 'invalid_write_key']);
    const before = process.cpuUsage();
    for (let nth = 0; nth < 30; nth += 1) await ask();
    const { user, system } = process.cpuUsage(before);
    const perRequestMs = (user + system) / 1_000 / 30;
    assert.ok(perRequestMs < 9, `${perRequestMs} ms of CPU for a request`);
  });

  test('may have a large body with the key at its end, as client libraries for Python send it', async () => {
    const body = `{"batch":[${Array.from({ length: 2_000 }, () => TRACK).join()}],"writeKey":"${WRITE_KEY}"}`;
    for (const [headers, bytes] of [
      [{}, body],
      [GZIP, gzipSync(body)],
    ] as const) {
      const answer = await send(collect.port, { path: BATCH, headers, body: bytes });
      assert.equal(answer.status, 200, answer.bytes.toString());
    }
    const [stored] = await collect.takeStored();
    assert.equal(stored?.bytes.includes(WRITE_KEY), false);
  });

  test('is still told what is wrong with a small body', async () => {
    const answer = await send(collect.port, { path: BATCH, body: '{' });
    assert.deepEqual([answer.status, codeOf(answer)], [400, 'malformed_json']);
  });
});

suite('an address with many refused requests', () => {
  test('is told to come back later, before its bodies are read; a key in the header lets it in all the same', async () => {
    const { port } = await collect.serve({ refusalsPerSecond: 1 });
    for (let nth = 0; nth < 10; nth += 1) {
      assert.equal((await send(port, { path: '/v1/track', body: '{"writeKey":"nobody"}' })).status, 401);
    }
    // One comes back to the bucket in each second, and a busy machine may be that slow.
    let answer = await send(port, { path: BATCH, headers: GZIP, body: COSTLY });
    for (let nth = 0; nth < 20 && answer.status === 401; nth += 1) {
      answer = await send(port, { path: BATCH, headers: GZIP, body: COSTLY });
    }
    assert.deepEqual([answer.status, codeOf(answer)], [429, 'rate_limited']);
    assert.ok(Number(answer.headers['retry-after']) >= 1);
    assert.equal((await sendWithKey(port, { path: '/v1/track', body: TRACK })).status, 200);
  });

  test('is that of the client, where our own proxy says so', async () => {
    const { port } = await collect.serve({ refusalsPerSecond: 1, trustedProxies: ['127.0.0.0/8'] });
    const from = (address: string) =>
      send(port, { path: BATCH, headers: { ...GZIP, 'X-Forwarded-For': address }, body: COSTLY });
    assert.equal((await from('192.0.2.1')).status, 401);
    assert.equal((await from('192.0.2.1')).status, 429, 'thirty-two at once');
    assert.equal((await from('192.0.2.2')).status, 401);
  });

  test('has accepted ones for nothing', async () => {
    const { port } = await collect.serve({ refusalsPerSecond: 1 });
    const body = `{"userId":"u","event":"E","writeKey":"${WRITE_KEY}"}`;
    for (let nth = 0; nth < 40; nth += 1) assert.equal((await send(port, { path: '/v1/track', body })).status, 200);
  });
});

suite('what is held while the engine hangs', () => {
  test('is counted as it is inflated: of two bodies of half a megabyte in 600 bytes there is room for one', async () => {
    const [nats] = collect.cluster.nodes;
    assert.ok(nats !== undefined);
    const { port } = await collect.serve({ maxHeldBytes: 700_000 });
    const call = `{"type":"track","userId":"u","event":"E","properties":{"a":[${'{},'.repeat(10_500)}{}]}}`;
    const body = gzipSync(`{"batch":[${Array.from({ length: 15 }, () => call).join()}]}`, { level: 9 });
    assert.ok(body.length < 1_000);
    await nats.kill('SIGSTOP');
    const answered: string[] = [];
    const ask = async (name: string) => {
      const answer = await sendWithKey(port, { path: BATCH, headers: GZIP, body });
      answered.push(name);
      assert.equal(answer.status, 503);
    };
    await Promise.all(['held', 'shed'].map(ask));
    await nats.kill('SIGCONT');
    assert.deepEqual(answered, ['shed', 'held'], 'the second is answered first');
  });
});
