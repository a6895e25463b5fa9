/** `millrace listen` on its own: the program as people start it, with real requests. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { signBody, signStandardWebhook } from '@millrace/contract';
import { answer, openReceiver } from '../../../server/testing/receiver.ts';
import { until } from '../../../server/testing/until.ts';
import { type Json, startCli } from '../../testing/run-cli.ts';
import { checkSignatures } from './check-signatures.ts';

const KEY = `Basic ${Buffer.from('dev:').toString('base64')}`;
const SECRET = 'dev-secret';

async function startListen(...args: string[]) {
  const cli = startCli(['listen', '--port', '0', '--json', ...args]);
  await cli.until((lines) => lines.length > 0);
  const intro: Json = JSON.parse(cli.lines[0] ?? '{}') as Json;
  const url = String(intro['url']);
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { Authorization: KEY, ...headers },
      body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
    });
  const entries = (kind: string) => cli.json().filter((entry) => entry['kind'] === kind);
  const hasSeen = (kind: string, count: number) =>
    until(
      () => entries(kind).length >= count,
      60_000,
      () => cli.lines.join('\n'),
    );
  return { ...cli, intro, url, post, entries, hasSeen, [Symbol.asyncDispose]: () => cli[Symbol.asyncDispose]() };
}

suite('the loopback collector', () => {
  test('refuses web pages of elsewhere, unless --allow-origin names them', async () => {
    await using listening = await startListen('--allow-origin', 'https://shop.test');
    const { post, entries } = listening;
    const call = { event: 'Hello', userId: 'u1' };
    assert.equal((await post('/v1/track', call, { Origin: 'https://evil.example' })).status, 403);
    assert.equal((await post('/hook', { type: 'track' }, { Origin: 'null' })).status, 403);
    const { port } = new URL(listening.url);
    const status = new Promise((resolve, reject) => {
      const asked = request({
        port,
        host: '127.0.0.1',
        path: '/v1/track',
        method: 'POST',
        headers: { Host: 'evil.example' },
      });
      asked.on('error', reject).on('response', (response) => resolve(response.resume().statusCode));
      asked.end('{}');
    });
    assert.equal(await status, 403);
    assert.equal((await post('/v1/track', call, { Origin: 'https://shop.test' })).status, 200);
    await listening.hasSeen('call', 1);
    assert.deepEqual([entries('note').length, entries('call').length, entries('webhook').length], [3, 1, 0]);
  });

  test('takes calls and refuses them as production does, and tells each', async () => {
    await using listening = await startListen();
    const { post, entries } = listening;
    const taken = await post('/v1/track', { event: 'Hello', userId: 'u1' });
    assert.deepEqual([taken.status, await taken.json()], [200, { success: true }]);
    const calls = [
      { type: 'identify', userId: 'u2', messageId: 'm1' },
      { type: 'track', userId: 'u2' },
    ];
    const mixed = await post('/v1/batch', gzipSync(JSON.stringify({ batch: calls })), { 'Content-Encoding': 'gzip' });
    assert.deepEqual([mixed.status, ((await mixed.json()) as Json)['accepted']], [200, 1]);
    assert.equal((await post('/v1/batch', '{"batch":')).status, 400);
    assert.equal(
      (await fetch(`${listening.url}/v1/track`, { method: 'POST', body: '{"event":"x","userId":"u"}' })).status,
      401,
    );
    assert.equal((await post('/v1/nothing', 'text')).status, 404);
    const preflight = await fetch(`${listening.url}/v1/t`, {
      method: 'OPTIONS',
      headers: { Origin: 'http://localhost:5173' },
    });
    assert.equal(preflight.headers.get('access-control-allow-origin'), '*');
    const settings = await fetch(`${listening.url}/v1/projects/dev/settings`);
    assert.ok('integrations' in ((await settings.json()) as Json), 'the browser library loads its settings');
    await listening.hasSeen('refused', 4);
    assert.deepEqual(
      entries('call').map(({ type, name, userId }) => [type, name, userId]),
      [
        ['track', 'Hello', 'u1'],
        ['identify', '', 'u2'],
      ],
    );
    assert.deepEqual(
      entries('refused').map(({ code }) => code),
      ['event_not_defined', 'malformed_json', 'invalid_write_key', 'not_found'],
    );
    assert.match(String(entries('refused')[0]?.['message']), /^batch\[1\]: /);
  });

  test('shows a batch that is sent again as a repeat, which production stores once', async () => {
    await using listening = await startListen();
    const batch = { batch: [{ type: 'track', event: 'Once', userId: 'u', messageId: 'same' }] };
    for (const _ of [1, 2]) await listening.post('/v1/batch', batch);
    await listening.hasSeen('call', 2);
    assert.deepEqual(
      listening.entries('call').map(({ isRepeat = false }) => isRepeat),
      [false, true],
    );
  });

  test('fails as it is told: statuses, resets, timeouts and delays', async () => {
    const call = { event: 'Hello', userId: 'u1' };
    await using busy = await startListen('--fail', '503:100%');
    const later = await busy.post('/v1/track', call);
    assert.deepEqual([later.status, later.headers.get('retry-after')], [503, '1']);
    await using reset = await startListen('--fail', 'reset');
    await assert.rejects(reset.post('/v1/track', call), /fetch failed/);
    await using slow = await startListen('--fail', 'timeout', '--delay', '2s');
    const waiting = new AbortController();
    const hanging = fetch(`${slow.url}/v1/track`, {
      method: 'POST',
      body: JSON.stringify(call),
      signal: waiting.signal,
    });
    await slow.hasSeen('injected', 1);
    waiting.abort();
    await assert.rejects(hanging, { name: 'AbortError' });
    await using late = await startListen('--delay', '300ms');
    const startedAt = performance.now();
    assert.equal((await late.post('/v1/track', call)).status, 200);
    assert.ok(performance.now() - startedAt >= 300);
    assert.deepEqual(
      [busy, reset, slow].map(({ entries }) => entries('injected')[0]?.['failure']),
      ['503', 'reset', 'timeout'],
    );
  });
});

suite('the webhook receiver', () => {
  const body = JSON.stringify({ version: 1, type: 'track', userId: 'u1', event: 'Hello' });
  const sign = (secret: string) => {
    const timestampSeconds = Math.floor(Date.now() / 1_000);
    return {
      'webhook-id': 'dlv_1',
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': signStandardWebhook([secret], { id: 'dlv_1', timestampSeconds, body }),
      'X-Signature': signBody(secret, body),
    };
  };

  test('checks signatures, and says what is wrong with them', async () => {
    await using listening = await startListen('--secret', SECRET);
    assert.equal((await listening.post('/any/hook', body, sign(SECRET))).status, 200);
    const refused = await listening.post('/any/hook', body, sign('another'));
    assert.equal(refused.status, 401);
    assert.match(await refused.text(), /signed with another secret/);
    assert.equal((await listening.post('/any/hook', body)).status, 401);
    await listening.hasSeen('webhook', 3);
    const [right, wrong, unsigned] = listening.entries('webhook');
    assert.deepEqual([right?.['ok'], right?.['name'], right?.['path']], [true, 'Hello', '/any/hook']);
    assert.equal(wrong?.['ok'], false);
    assert.match(JSON.stringify(unsigned?.['signatures']), /is missing/);
  });

  test('takes webhooks without a secret, and does not claim that they are genuine', async () => {
    await using listening = startCli(['listen', '--port', '0', '--count', '1']);
    await listening.until((_, errors) => errors.includes('write key: any'));
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(listening.errors())?.[0] ?? '';
    await fetch(`${url}/hook`, { method: 'POST', body });
    assert.match(
      (await listening.ended).lines.join('\n'),
      /track +Hello +u1 +\d+ B +webhook ok, signatures not checked \(give --secret\)/,
    );
  });
});

suite('forwarding', () => {
  test('delivers each call as a webhook that production could have sent, and shows the answer', async () => {
    await using receiver = await openReceiver();
    const record = join(mkdtempSync(join(tmpdir(), 'millrace-listen-')), 'record.ndjson');
    await using listening = await startListen(
      '--forward',
      receiver.url,
      '--secret',
      SECRET,
      '--record',
      record,
      '--header',
      'X-Own: yes',
    );
    const calls = Array.from({ length: 20 }, (_, index) => ({ type: 'track', event: `E${index}`, userId: 'u' }));
    await listening.post('/v1/batch', { batch: calls });
    await listening.hasSeen('forwarded', 20);
    assert.deepEqual(
      receiver.received.map(({ body }) => (JSON.parse(body) as Json)['event']),
      calls.map(({ event }) => event),
    );
    for (const { headers, body } of receiver.received) {
      const given = headers as Record<string, string>;
      assert.deepEqual(
        checkSignatures(SECRET, { headers: given, body, now: new Date() }).map(({ ok }) => ok),
        [true, true],
      );
      assert.deepEqual(
        [given['x-own'], given['x-millrace-attempt'], given['user-agent']],
        ['yes', '1', 'Millrace/1.0'],
      );
    }
    const [forwarded] = listening.entries('forwarded');
    assert.deepEqual([forwarded?.['ok'], forwarded?.['status'], forwarded?.['outcome']], [true, 200, 'delivered']);
    listening.child.kill('SIGINT');
    assert.equal((await listening.ended).code, 130);
    assert.equal(statSync(record).mode & 0o777, 0o600, 'only this user can read the record');
    const recorded = readFileSync(record, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Json);
    assert.deepEqual(recorded, listening.json().slice(1), 'the record has what standard output had');
  });

  test('makes a secret for the session when none is given, and says what production would do next', async () => {
    await using receiver = await openReceiver(answer(500));
    await using listening = await startListen('--forward', receiver.url);
    assert.match(String(listening.intro['secret']), /^whsec_/);
    await listening.post('/v1/track', { event: 'Hello', userId: 'u1' });
    await listening.hasSeen('forwarded', 1);
    assert.equal(listening.entries('forwarded')[0]?.['outcome'], 'retry');
    const { headers, body } = receiver.received[0] ?? { headers: {}, body: '' };
    const checks = checkSignatures(String(listening.intro['secret']), {
      headers: headers as Record<string, string>,
      body,
      now: new Date(),
    });
    assert.deepEqual(
      checks.map(({ ok }) => ok),
      [true, true],
    );
  });
});

suite('options that cannot be used', () => {
  test('end in a sentence that says what to do', async () => {
    const cases: [string[], number, RegExp][] = [
      [['--port', 'x'], 2, /--port does not take "x"\.\nGive a whole number/],
      [['--fail', '50%'], 2, /--fail does not take "50%"\.\nGive a status, timeout or reset/],
      [['--forward', 'localhost:3000'], 2, /--forward does not take .*\nGive a whole address/],
      [['--header', 'X: y'], 2, /--header is for forwarded webhooks/],
      [['--source', 'Shop'], 2, /--source is for the events of a server\.\nGive --from SERVER/],
      [['--from', 'http://localhost:1'], 2, /--from needs a source/],
      [['--port', '0', '--record', '/nowhere/at/all'], 1, /The record cannot be written/],
    ];
    for (const [args, code, says] of cases) {
      const ended = await startCli(['listen', ...args]).ended;
      assert.match(ended.errors, says);
      assert.equal(ended.code, code, args.join(' '));
    }
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const taken = await startCli(['listen', '--port', String(port)]).ended;
    other.close();
    assert.deepEqual(
      [taken.code, taken.errors.split('\n')[0]],
      [1, `millrace: Another program listens on 127.0.0.1:${port}.`],
    );
  });
});
