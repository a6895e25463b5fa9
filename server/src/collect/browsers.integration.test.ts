/** The needs of browser pages beside the paths of calls: CORS, settings, pixels. */
import assert from 'node:assert/strict';
import { after, beforeEach, suite, test } from 'node:test';
import { SOURCE, startCollect, WRITE_KEY } from '../../testing/bad-inputs/running-collect.ts';
import { BASIC, jsonOf, type HttpAnswer, send } from '../../testing/bad-inputs/send.ts';
import { hashOfKey } from './find-write-key.ts';

const ORIGIN = { Origin: 'https://shop.example' };
const CALL = { userId: 'u1', event: 'E', writeKey: WRITE_KEY };

const collect = await startCollect();
after(() => collect[Symbol.asyncDispose]());
await collect.putSource({ ...SOURCE, id: 'src_off', enabled: false, writeKeyHashes: [hashOfKey('off-key')] });
beforeEach(() => collect.takeStored());

suite('CORS', () => {
  test('a preflight allows any page and every header that browser libraries ask for', async () => {
    const asked = 'authorization, content-type, x-retry-count, anonymousid, sentat';
    for (const path of [
      '/v1/t',
      '/v1/b',
      '/v1/track',
      '/v1/batch',
      `/v1/projects/${WRITE_KEY}/settings`,
      '/sourceConfig',
    ]) {
      const headers = { ...ORIGIN, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': asked };
      const answer = await send(collect.port, { method: 'OPTIONS', path, headers });
      assert.ok(answer.status === 200 || answer.status === 204);
      assert.equal(answer.headers['access-control-allow-origin'], '*');
      assert.equal(answer.headers['access-control-allow-credentials'], undefined);
      assert.equal(answer.headers['access-control-max-age'], '7200');
      assert.deepEqual(missing(asked, answer.headers['access-control-allow-headers']), []);
      assert.deepEqual(missing('GET, POST, OPTIONS', answer.headers['access-control-allow-methods']), []);
    }
  });

  test('every answer can be read by the page that asked', async () => {
    const paths = { '/v1/t': 200, '/v1/track?x': 200, '/v1/i': 200, '/v1/a': 400, '/v1/nothing': 404 };
    for (const [path, status] of Object.entries(paths)) {
      const answer = await send(collect.port, { path, headers: ORIGIN, body: JSON.stringify(CALL) });
      assert.deepEqual([answer.status, answer.headers['access-control-allow-origin']], [status, '*'], path);
    }
    const stranger = await send(collect.port, { path: '/v1/t', headers: ORIGIN, body: '{}' });
    assert.deepEqual([stranger.status, stranger.headers['access-control-allow-origin']], [401, '*']);
  });
});

suite('settings of browser libraries', () => {
  const settingsOf = (key: string, port = collect.port) =>
    send(port, { method: 'GET', path: `/v1/projects/${key}/settings`, headers: ORIGIN });

  test("Segment's library is told to send here, and nothing about itself", async () => {
    const answer = await settingsOf(WRITE_KEY);
    assert.equal(answer.headers['access-control-allow-origin'], '*');
    assert.partialDeepStrictEqual(jsonOf(answer), {
      integrations: { 'Segment.io': { apiKey: WRITE_KEY, apiHost: `127.0.0.1:${collect.port}/v1`, protocol: 'http' } },
      metrics: { sampleRate: 0 },
    });
    // It repeats the Host header: a shared cache would send other visitors where one of them said.
    assert.equal(answer.headers['cache-control'], 'no-store');
  });

  test('the public address is told where there is one', async () => {
    const { port } = await collect.serve({ publicUrl: { protocol: 'https', host: 'events.example.com/in' } });
    assert.partialDeepStrictEqual(jsonOf(await settingsOf(WRITE_KEY, port)), {
      integrations: { 'Segment.io': { apiHost: 'events.example.com/in/v1', protocol: 'https' } },
    });
  });

  test("RudderStack's library gets its source by key in the header or in the address", async () => {
    const expected = {
      source: { id: SOURCE.id, name: SOURCE.name, enabled: true, writeKey: WRITE_KEY, destinations: [] },
    };
    const byHeader = await send(collect.port, {
      method: 'GET',
      path: '/sourceConfig/?p=npm&v=3',
      headers: { Authorization: BASIC },
    });
    assert.partialDeepStrictEqual(jsonOf(byHeader), expected);
    const byQuery = await send(collect.port, { method: 'GET', path: `/sourceConfig?writeKey=${WRITE_KEY}` });
    assert.partialDeepStrictEqual(jsonOf(byQuery), expected);
  });

  test('a stranger and a disabled source get none', async () => {
    const ask = (path: string) => send(collect.port, { method: 'GET', path });
    const answers = [
      await settingsOf('nobody'),
      await ask('/sourceConfig'),
      await ask('/sourceConfig?writeKey=nobody'),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [401, 401, 401],
    );
    const off = [await settingsOf('off-key'), await ask('/sourceConfig?writeKey=off-key')];
    assert.deepEqual(
      off.map(({ status }) => status),
      [403, 403],
    );
  });
});

suite('pixels', () => {
  const taken: Record<string, string> = {
    'with escaped base64': encodeURIComponent(base64(CALL)),
    'with bare base64': base64(CALL),
    'with the alphabet of addresses': Buffer.from(JSON.stringify({ ...CALL, event: 'ü~?>' })).toString('base64url'),
    'with a plus that nobody escaped': base64({ ...CALL, event: 'a>b~>>>' }),
  };
  for (const [how, data] of Object.entries(taken)) {
    test(`a call ${how} is stored with the address of its sender`, async () => {
      assertPixel(await pixel(`/v1/pixel/track?data=${data}`));
      const [stored] = await collect.takeStored();
      assert.partialDeepStrictEqual(stored?.events[0], { type: 'track', userId: 'u1', context: { ip: '127.0.0.1' } });
      assert.ok(stored?.bytes.includes(WRITE_KEY) === false);
    });
  }

  test('the plus above is really there', () => {
    assert.match(taken['with a plus that nobody escaped'] ?? '', /\+/);
  });

  const refused: Record<string, string> = {
    nothing: '/v1/pixel/track',
    nonsense: '/v1/pixel/track?data=%%%',
    'no key': `/v1/pixel/track?data=${base64({ userId: 'u1', event: 'E' })}`,
    'an unknown key': `/v1/pixel/track?data=${base64({ ...CALL, writeKey: 'nobody' })}`,
    'the key of a disabled source': `/v1/pixel/track?data=${base64({ ...CALL, writeKey: 'off-key' })}`,
    'no user': `/v1/pixel/track?data=${base64({ event: 'E', writeKey: WRITE_KEY })}`,
    'an unknown type': `/v1/pixel/delete?data=${base64(CALL)}`,
  };
  for (const [what, path] of Object.entries(refused)) {
    test(`one with ${what} is an image all the same, and nothing is stored`, async () => {
      assertPixel(await pixel(path));
      assert.deepEqual(await collect.takeStored(), []);
    });
  }
});

function pixel(path: string): Promise<HttpAnswer> {
  return send(collect.port, { method: 'GET', path });
}

function assertPixel(answer: HttpAnswer): void {
  assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'image/gif']);
  assert.deepEqual(
    [answer.bytes.toString('latin1', 0, 6), answer.bytes.readUInt16LE(6), answer.bytes.readUInt16LE(8)],
    ['GIF89a', 1, 1],
  );
  assert.equal(answer.headers['cache-control'], 'no-store');
}

function base64(call: object): string {
  return Buffer.from(JSON.stringify(call)).toString('base64');
}

/** The items of one list in a header that another one lacks. */
function missing(wanted: string, offered: string | undefined): string[] {
  const items = new Set(offered?.toLowerCase().split(/,\s*/));
  return wanted
    .toLowerCase()
    .split(/,\s*/)
    .filter((item) => !items.has(item));
}
