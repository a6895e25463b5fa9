import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite, test } from 'node:test';

const MAIN = join(import.meta.dirname, '../main.ts');

async function healthcheck(args: readonly string[], env: Record<string, string> = {}) {
  // The answers come from this process, which may be busy with other tests: with patience, unless a test has its own.
  const child = spawn(process.execPath, [MAIN, 'healthcheck', '--timeout', '60000', ...args], { env });
  const [[code], said, complained] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return { code, said, complained };
}

/** Answers every request as `/readyz` would. */
async function openAnswers(status: number, body: object | undefined) {
  const server = createServer((_request, response) => {
    // Without a body it never answers.
    if (body !== undefined) response.writeHead(status).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: String((server.address() as AddressInfo).port),
    [Symbol.dispose]: () => server.close().closeAllConnections(),
  };
}

suite('millrace healthcheck', () => {
  test('asks the metrics port of the settings and ends with 0 when the server is ready', async () => {
    using server = await openAnswers(200, { status: 'ready' });
    const env = { MILLRACE_ROLES: 'collect', MILLRACE_METRICS_PORT: server.port };
    assert.deepEqual(await healthcheck([], env), { code: 0, said: 'The server is ready.\n', complained: '' });
    assert.equal((await healthcheck(['--json'], env)).said, '{"ready":true}\n');
  });

  test('ends with 6 and the reasons when the server is not ready', async () => {
    using server = await openAnswers(503, { status: 'not ready', reasons: ['NATS is away', 'no streams'] });
    const { code, said, complained } = await healthcheck(['--json', '--url', `http://127.0.0.1:${server.port}/readyz`]);
    assert.equal(code, 6);
    assert.equal(said, '{"ready":false,"reasons":["NATS is away","no streams"]}\n');
    assert.match(complained, /The server is not ready: NATS is away; no streams\./);
  });

  test('ends with 5 when nothing listens there', async () => {
    const { code, complained } = await healthcheck(['--url', 'http://127.0.0.1:1/readyz']);
    assert.equal(code, 5);
    assert.match(complained, /127\.0\.0\.1:1\/readyz cannot be reached\.\nSee the log of the server/);
  });

  test('ends with 5 when the server does not answer in time', async () => {
    using server = await openAnswers(200, undefined);
    const { code, complained } = await healthcheck(['--timeout', '50', '--url', `http://127.0.0.1:${server.port}/`]);
    assert.equal(code, 5);
    assert.match(complained, /did not answer within 50 ms/);
  });

  test('says what is wrong with the settings, or with its own option', async () => {
    const settings = await healthcheck([], { MILLRACE_ROLES: 'everything' });
    assert.equal(settings.code, 78);
    assert.match(settings.complained, /MILLRACE_ROLES must be one or more of/);
    const option = await healthcheck(['--timeout', 'soon']);
    assert.equal(option.code, 2);
    assert.match(option.complained, /--timeout soon is not a number of milliseconds/);
  });
});
