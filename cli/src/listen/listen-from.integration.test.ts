import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { verifyBody } from '@millrace/contract';
import { freePorts } from '@millrace/engines';
import { openReceiver, type Received } from '../../../server/testing/receiver.ts';
import { track } from '../../../server/testing/samples.ts';
import { addScene, openStack, type Scene, type Stack } from '../../../server/testing/stack.ts';
import { until } from '../../../server/testing/until.ts';
import { startCli } from '../../testing/run-cli.ts';
import { listenCommand } from '../commands/listen.ts';
import { examplesOf } from '../output/example-of.ts';
import { checkSignatures } from './check-signatures.ts';

const TOKEN = 'a-bootstrap-token-of-more-than-32-characters';
const SECRET = 'a-secret-of-the-developer';
const NOWHERE = 'http://127.0.0.1:1999/';
const PATIENCE_MS = 120_000;

const opened = new AsyncDisposableStack();
let stack: Stack;
let server: string;
before(async () => {
  const [port] = await freePorts(1);
  // Two streams, so that the order between streams is under test.
  stack = opened.use(await openStack({ MILLRACE_CONTROL_PORT: String(port), MILLRACE_EVENT_STREAMS: '2' }));
  server = stack.controlUrl().replace('/api/v1', '');
});
after(() => opened.disposeAsync());

function listenTo(sourceId: string, url: string, ...more: string[]) {
  const args = [
    'listen',
    '--from',
    server,
    '--source',
    sourceId,
    '--forward',
    url,
    '--secret',
    SECRET,
    '--json',
    ...more,
  ];
  return startCli(args, { MILLRACE_TOKEN: TOKEN });
}

const isReady = (lines: readonly string[]) => lines.some((line) => line.includes('"listening"'));
const eventOf = ({ body }: Received) => (JSON.parse(body) as { event: string }).event;

function signatureProblems({ headers, body }: Received): string[] {
  const given = headers as Record<string, string>;
  assert.equal(verifyBody(SECRET, body, given['x-signature'] ?? ''), true);
  return checkSignatures(SECRET, { headers: given, body, now: new Date() })
    .filter(({ ok }) => !ok)
    .map(({ header, says }) => `${header} ${says}`);
}

suite('listen --from --forward', () => {
  test('delivers 1,000 events in order with valid signatures, across a restart of the server', async (t) => {
    await using receiver = await openReceiver();
    const scene = await addScene(stack, NOWHERE);
    await using listening = listenTo(scene.sourceId, receiver.url);
    await listening.until(isReady);
    const names = Array.from({ length: 1_000 }, (_, index) => `Event ${index}`);
    const send = async (from: number, to: number) => {
      for (let at = from; at < to; at += 5) {
        const calls = names.slice(at, at + 5).map((name) => track(name));
        await until(async () => (await stack.send(scene.writeKey, calls)) === 200);
      }
    };
    const startedAt = performance.now();
    await send(0, 500);
    await until(() => receiver.received.length > 100, PATIENCE_MS);
    await stack.restart();
    await send(500, 1_000);
    await until(() => receiver.received.length >= 1_000, PATIENCE_MS);
    t.diagnostic(`1,000 events in ${Math.round(performance.now() - startedAt)} ms`);
    assert.deepEqual(receiver.received.map(eventOf), names);
    assert.deepEqual(receiver.received.flatMap(signatureProblems), []);
    assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1_000);
    listening.child.kill('SIGTERM');
    assert.equal((await listening.ended).code, 0);
  });

  test('holds the events while the receiver is away, and begins in the past with --since', async () => {
    const scene = await addScene(stack, NOWHERE);
    const names = ['Early', 'Later', 'Last'];
    for (const name of names) await stack.send(scene.writeKey, [track(name)]);
    const [port = 0] = await freePorts(1);
    await using listening = listenTo(scene.sourceId, `http://127.0.0.1:${port}/hook`, '--since', '10m', '--count', '3');
    await listening.until((lines) => lines.some((line) => line.includes('nothing listens on port')));
    const got: string[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (data: Buffer) => (body += data.toString()));
      request.on('end', () => {
        got.push((JSON.parse(body) as { event: string }).event);
        response.end();
      });
    }).listen(port, '127.0.0.1');
    assert.equal((await listening.ended).code, 0);
    server.closeAllConnections();
    server.close();
    assert.deepEqual(got, names);
  });

  test('sends what a destination would get with --as: its ids, body, filters and blocked events', async () => {
    await using production = await openReceiver();
    await using local = await openReceiver();
    const scene = await addScene(stack, production.url, { bodyFormat: 'full', sharedSecret: 'kept-on-the-server' });
    const filters = [{ field: 'event', op: 'not_equals', value: 'Filtered' }];
    await stack.get('PATCH', `/destinations/${scene.destinationId}`, { filters });
    await stack.get('POST', `/sources/${scene.sourceId}/events`, { name: 'Blocked', blocked: true });
    await until(() => stack.view().destination(scene.destinationId)?.filters !== undefined);
    await using listening = listenTo('Shop', local.url, '--as', scene.destinationId);
    const { code, errors } = await listening.ended;
    assert.equal(code, 2, 'several scenes have a source of that name');
    assert.match(errors, /sources are called "Shop"\.\nGive the id: src_/);
    await using again = listenTo(scene.sourceId, local.url, '--as', scene.destinationId, '--count', '3');
    await again.until(isReady);
    await stack.send(scene.writeKey, [track('Filtered'), track('Blocked'), track('Wanted')]);
    assert.equal((await again.ended).code, 0);
    const skipped = again.json().filter(({ kind }) => kind === 'skipped');
    assert.deepEqual(
      skipped.map(({ name, reason }) => [name, reason]),
      [
        ['Filtered', 'filtered'],
        ['Blocked', 'blocked_event'],
      ],
    );
    await until(() => production.received.length === 1);
    const [real, forwarded] = [production.received[0], local.received[0]];
    assert.ok(real !== undefined && forwarded !== undefined);
    assert.equal(forwarded.body, real.body);
    assert.equal(forwarded.headers['webhook-id'], real.headers['webhook-id']);
    assert.deepEqual(Object.keys(forwarded.headers).sort(), Object.keys(real.headers).sort());
    assert.deepEqual(signatureProblems(forwarded), []);
  });

  test('ends with a sentence for a source that is not there, a server that is not there and a wrong token', async () => {
    const ends = (...args: Parameters<typeof startCli>) => startCli(...args).ended;
    const missing = await ends(['listen', '--from', server, '--source', 'Nothing'], { MILLRACE_TOKEN: TOKEN });
    assert.equal(missing.code, 4);
    assert.match(missing.errors, /There is no source "Nothing"\.\nThere are: "Shop"/);
    const away = await ends(['listen', '--from', 'http://127.0.0.1:1', '--source', 'x', '--token', 'x'.repeat(40)]);
    assert.equal(away.code, 5);
    const stranger = await ends(['listen', '--from', server, '--source', 'x', '--token', 'x'.repeat(40)]);
    assert.equal(stranger.code, 3);
  });
});

/** Every command of the page and of the help, as its reader would run it, with addresses of this test. */
suite('the examples', () => {
  const root = join(import.meta.dirname, '../../..');
  const page = readFileSync(join(root, 'docs/use/listen.md'), 'utf8');
  const shown = [...page.matchAll(/^millrace listen.*$/gm)]
    .map(([line]) => line)
    .filter((line) => !line.includes('   '));
  let scene: Scene;
  before(async () => {
    scene = await addScene(stack, NOWHERE);
  });
  const commands = [...shown, ...examplesOf(listenCommand()).map(({ run }) => run)];

  test('of the page are code that runs here', () => {
    const code = /^```js\n(.*?)^```$/ms.exec(page)?.[1];
    assert.equal(code, readFileSync(join(root, 'examples/listen/receiver.mjs'), 'utf8'));
    assert.ok(shown.length >= 5);
  });

  for (const command of new Set(commands)) {
    test(`run: ${command}`, async () => {
      const receiver = openExampleReceiver(join(root, 'examples/listen/receiver.mjs'));
      await using _ = receiver;
      const port = await receiver.port;
      const { sourceId, writeKey } = scene;
      const words = command
        .replace('http://localhost:8081', server)
        .replace('http://localhost:3000', `http://127.0.0.1:${port}`)
        .replace('--source Shop', `--source ${sourceId}`)
        .replace('calls.ndjson', join(tmpdir(), `listen-${port}.ndjson`))
        .replace(/ --count \d+/, '')
        // Whether a request fails is a matter of dice.
        .replaceAll(/ --fail (\w+):\d+%/g, ' --fail $1:0%')
        .split(' ');
      const own = command.includes('--port') || command.includes('--from') ? [] : ['--port', '0'];
      await using listening = startCli([...words.slice(1), ...own, '--json', '--count', '1'], {
        MILLRACE_TOKEN: TOKEN,
      });
      await listening.until(isReady);
      const [{ url } = {}] = listening.json();
      if (command.includes('--from')) await stack.send(writeKey, [track(`Hello ${port}`)]);
      else
        await fetch(`${String(url)}/v1/track`, {
          method: 'POST',
          body: '{"writeKey":"dev","event":"Hello","userId":"u1"}',
        });
      const { code, lines } = await listening.ended;
      assert.equal(code, 0);
      assert.match(
        lines.join('\n'),
        command.includes('--forward') ? /"kind":"forwarded","type":"track".*"status":200/ : /"kind":"call","ok":true/,
      );
    });
  }
});

/** The receiver of the page, as a process. */
function openExampleReceiver(file: string) {
  const ports = freePorts(1);
  const started = ports.then(async ([port = 0]) => {
    const env = { ...environment(), PORT: String(port), WEBHOOK_SECRET: 'dev-secret' };
    const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'], env });
    await once(child.stdout, 'data');
    return { child, port };
  });
  return {
    port: started.then(({ port }) => port),
    async [Symbol.asyncDispose]() {
      (await started).child.kill('SIGKILL');
    },
  };
}

function environment(): NodeJS.ProcessEnv {
  // oxlint-disable-next-line node/no-process-env -- the environment of the test, for its program
  return process.env;
}
