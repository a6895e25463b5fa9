/** The README shows the files of examples/node-client, and they run as it says, with the built package. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import { freePorts } from '@millrace/engines';
import { signStandardWebhook } from '../../../contract/src/signature.ts';
import { temporaryDirectory } from '../testing/run-program.ts';
import { type AnswerServer, serveAnswers } from '../testing/serve-answers.ts';
import { readOptions } from './read-options.ts';
import { until } from '../../../server/testing/until.ts';

const HERE = join(import.meta.dirname, '..');
const EXAMPLES = join(HERE, '../../examples/node-client');
const SECRET = 's3cr3t';
const readme = readFileSync(join(HERE, 'README.md'), 'utf8');
const run = promisify(execFile);

before(() => run(process.execPath, [join(HERE, 'build.ts')]));

function environment(server: AnswerServer, more: Record<string, string> = {}): NodeJS.ProcessEnv {
  return {
    ...process.env,
    MILLRACE_ENDPOINT: server.url,
    MILLRACE_WRITE_KEY: 'key',
    MILLRACE_SHARED_SECRET: SECRET,
    ...more,
  };
}

function eventsOf({ requests }: AnswerServer): unknown[] {
  return requests.flatMap(({ calls }) => calls.map((call) => call.event ?? call.type));
}

suite('the README', () => {
  test('shows the examples as they are', () => {
    const shown = [...readme.matchAll(/```js\n([^]*?)```/g)].map(([, code = '']) => code.trim());
    const files = readdirSync(EXAMPLES).map((file) => readFileSync(join(EXAMPLES, file), 'utf8').trim());
    assert.ok(shown.length >= 7);
    for (const code of shown) assert.ok(files.includes(code), `no example is:\n${code}`);
  });

  test('names every option with its default', () => {
    const { url: _, endpoint, whenFull, library: __, ...settings } = readOptions({});
    for (const [name, value] of Object.entries(settings)) {
      const row = readme
        .split('\n')
        .find((line) => line.startsWith('| `') && line.split('|')[1]?.includes(`\`${name}\``));
      assert.ok(row, `${name} is missing`);
      if (typeof value === 'number' || typeof value === 'boolean')
        assert.equal(row.split('|')[2]?.trim(), String(value));
    }
    assert.ok(
      readme.includes(`| \`endpoint\` | \`${endpoint}\``) && readme.includes(`| \`whenFull\` | \`${whenFull}\``),
    );
  });
});

suite('the examples', () => {
  test('quick-start.js', async () => {
    await using server = await serveAnswers();
    const { stdout } = await run(process.execPath, [join(EXAMPLES, 'quick-start.js')], { env: environment(server) });
    assert.equal(stdout, '{ sent: 2, failed: 0, dropped: 0, kept: 0 }\n');
  });

  test('script.js', async () => {
    await using server = await serveAnswers();
    await run(process.execPath, [join(EXAMPLES, 'script.js')], { env: environment(server) });
    assert.deepEqual(eventsOf(server), ['Imported', 'Imported', 'Imported']);
    await using refusing = await serveAnswers(() => 401);
    const failed = run(process.execPath, [join(EXAMPLES, 'script.js')], { env: environment(refusing) });
    await assert.rejects(failed, /3 calls failed: http_401/);
  });

  test('spool.js', async () => {
    using directory = temporaryDirectory();
    await using server = await serveAnswers();
    const env = environment(server, { SPOOL_DIRECTORY: directory.path });
    const { stdout } = await run(process.execPath, [join(EXAMPLES, 'spool.js')], { env });
    assert.equal(stdout, '1 sent, 0 wait for the next start\n');
  });

  for (const file of ['express.js', 'fastify.js']) {
    test(file, async () => {
      await using server = await serveAnswers();
      const [port = 0] = await freePorts(1);
      const child = start(file, environment(server, { PORT: String(port) }));
      assert.equal(await (await answered(`http://localhost:${port}/orders/7`)).text(), 'ok');
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      assert.deepEqual(await ended, [0, null]);
      assert.deepEqual(eventsOf(server), ['Order Viewed']);
    });
  }

  test('lambda.js', async () => {
    await using server = await serveAnswers();
    const code = `import { handler } from '${join(EXAMPLES, 'lambda.js')}'; console.log(await handler({ userId: 'u1' }));`;
    const { stdout } = await run(process.execPath, ['-e', code], { env: environment(server) });
    assert.equal(stdout, '{ statusCode: 200 }\n');
    assert.deepEqual(eventsOf(server), ['Function Called']);
  });

  test('receive-webhooks.js', async () => {
    await using server = await serveAnswers();
    const [port = 0] = await freePorts(1);
    const child = start('receive-webhooks.js', environment(server, { PORT: String(port) }));
    const response = await answered(`http://localhost:${port}/`, signedRequest());
    assert.equal(response.status, 200);
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  });

  test('receive-batches.js, which docs/use/batches.md shows', async () => {
    const page = readFileSync(join(EXAMPLES, '../../docs/use/batches.md'), 'utf8');
    assert.ok(page.includes(readFileSync(join(EXAMPLES, 'receive-batches.js'), 'utf8')));
    await using server = await serveAnswers();
    const [port = 0] = await freePorts(1);
    const child = start('receive-batches.js', environment(server, { PORT: String(port) }));
    const event = '{"type":"delete","userId":"u1","timestamp":"2026-11-15T00:08:46.123Z"}';
    const batch = `{"version":1,"type":"batch","events":[{"id":"dlv_1","attempt":1,"body":${event}}]}`;
    const url = `http://localhost:${port}/`;
    assert.equal((await answered(url, signedRequest(batch))).status, 200);
    assert.equal((await answered(url, signedRequest())).status, 200);
    assert.equal((await answered(url, { method: 'POST', body: batch })).status, 401);
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  });

  test('next-route.js', async () => {
    process.env['MILLRACE_SHARED_SECRET'] = SECRET;
    const { POST } = (await import(join(EXAMPLES, 'next-route.js'))) as { POST(request: Request): Promise<Response> };
    assert.equal((await POST(new Request('http://x/', signedRequest()))).status, 200);
    assert.equal((await POST(new Request('http://x/', { method: 'POST', body: '{}' }))).status, 401);
  });
});

const DELETION = '{"type":"delete","userId":"u1","timestamp":"2026-11-15T00:08:46.123Z"}';

function signedRequest(body = DELETION): RequestInit {
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  const signature = signStandardWebhook([SECRET], { id: 'dlv_1', timestampSeconds, body });
  const signed = { 'webhook-timestamp': String(timestampSeconds), 'webhook-signature': signature };
  return { method: 'POST', headers: { 'webhook-id': 'dlv_1', ...signed }, body };
}

function start(file: string, env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(process.execPath, [join(EXAMPLES, file)], { env, stdio: 'inherit', timeout: 20_000 });
}

/** Asks until a process listens. */
async function answered(url: string, request: RequestInit = {}): Promise<Response> {
  let response: Response | undefined;
  await until(async () => {
    response = await fetch(url, request).catch(() => undefined);
    return response !== undefined;
  });
  return response ?? assert.fail();
}
