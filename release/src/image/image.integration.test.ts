/** The image as it is released, built here from this checkout and run by podman beside real engines. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { after, before, suite, test } from 'node:test';
import { freePorts, ROOT_DIR, startNatsCluster, startPostgresServer } from '@millrace/engines';
import { forbiddenLicences } from '../sbom/allowed-licences.ts';
import { imageComponents } from '../sbom/image-components.ts';
import { npmComponents } from '../sbom/npm-components.ts';
import { imageSize } from './image-size.ts';
import { type ImageFile, listFiles } from './list-files.ts';
import { type BuiltImage, openImage } from './open-image.ts';
import { runCommand, startContainer } from './start-container.ts';

const MAX_MEGABYTES = 150;
const READY_WITHIN_MS = 3_000;
/** Other work on this machine can make a start slow, and none makes it fast: the best one counts. */
const STARTS = 5;

const opened = new AsyncDisposableStack();
const token = randomBytes(32).toString('hex');
let built: BuiltImage;
let settings: Record<string, string>;
let urls: { collect: string; control: string; ready: string };

before(async () => {
  built = opened.use(await openImage());
  const [nats, postgres, ports] = await Promise.all([
    startNatsCluster({ nodes: 1 }).then((started) => opened.use(started)),
    startPostgresServer().then((started) => opened.use(started)),
    freePorts(3),
  ]);
  const [collect, control, metrics] = ports;
  urls = {
    collect: `http://127.0.0.1:${collect}`,
    control: `http://127.0.0.1:${control}/api/v1`,
    ready: `http://127.0.0.1:${metrics}/readyz`,
  };
  settings = {
    MILLRACE_HOST: '127.0.0.1',
    MILLRACE_COLLECT_PORT: String(collect),
    MILLRACE_CONTROL_PORT: String(control),
    MILLRACE_METRICS_PORT: String(metrics),
    MILLRACE_NATS_URL: nats.url,
    MILLRACE_DATABASE_URL: postgres.serviceUrl,
    MILLRACE_MIGRATION_DATABASE_URL: postgres.url,
    MILLRACE_KEYS: `1:${randomBytes(32).toString('base64')}`,
    MILLRACE_BOOTSTRAP_TOKEN: token,
    MILLRACE_ALLOW_CIDRS: '127.0.0.0/8',
    MILLRACE_DRAIN_MS: '0',
  };
});
after(() => opened.disposeAsync());

const start = () => startContainer({ ...built, settings, readyUrl: urls.ready });

/** Runs a command of the image to its end. */
function runOnce(command: readonly string[], env: Record<string, string> = {}) {
  const [program, ...args] = [...runCommand(built.podman, built.image), ...command];
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env: { PATH: pathHere(), ...env } });
  return { status, stdout, stderr };
}

function pathHere(): string {
  return process.env['PATH'] ?? '';
}

async function ask<Answer>(path: string, body: object): Promise<Answer> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const answer = await fetch(urls.control + path, { method: 'POST', headers, body: JSON.stringify(body) });
  assert.ok(answer.ok, `${path} was answered ${answer.status}: ${await answer.clone().text()}`);
  return (await answer.json()) as Answer;
}

suite('the files of the image', () => {
  let files: ImageFile[];
  before(() => {
    files = listFiles(built.podman, built.image);
  });
  const pathsLike = (pattern: RegExp) => files.map(({ path }) => path).filter((path) => pattern.test(path));

  test(`take less than ${MAX_MEGABYTES} MB`, (t) => {
    const { megabytes, compressedMegabytes } = imageSize(built.podman, built.image);
    t.diagnostic(`${megabytes} MB, ${compressedMegabytes} MB compressed, ${files.length} files`);
    assert.ok(megabytes < MAX_MEGABYTES, `the image has ${megabytes} MB`);
  });

  test('hold Node, the server, the console, the migrations and the licences', () => {
    for (const path of [
      'opt/node/bin/node',
      'opt/node/LICENSE',
      'opt/millrace/dist/main.js',
      'opt/millrace/console/index.html',
      'opt/millrace/migrations/0001_control.sql',
      'opt/millrace/LICENSE',
      'opt/millrace/THIRD-PARTY-LICENSES.txt',
      'etc/ssl/certs/ca-certificates.crt',
    ])
      assert.ok(pathsLike(new RegExp(`^${path}$`)).length === 1, `${path} is missing`);
  });

  test('hold no shell, no package manager, no sources and nothing for development', () => {
    assert.deepEqual(
      pathsLike(/(^|\/)(ba|da|a|z|k|c|tc|fi)?sh$|(^|\/)(busybox|toybox|env|perl|python3?|curl|wget)$/),
      [],
    );
    assert.deepEqual(pathsLike(/(^|\/)(npm|npx|corepack|yarn|pnpm|apt|apt-get|dpkg|rpm|apk)$/), []);
    assert.deepEqual(pathsLike(/\.(ts|tsx|map)$|(^|\/)(node_modules|\.git|test|testing)(\/|$)/), []);
    assert.deepEqual(pathsLike(/\/pglite\.(wasm|data)$/), []);
    const programs = files.filter(({ path, mode }) => /^-..x/.test(mode) && !/\.so(\.|$)/.test(path));
    assert.deepEqual(
      programs.map(({ path }) => path).filter((path) => !/\/ld-linux-|^opt\/(node\/bin\/node|millrace\/)/.test(path)),
      [],
    );
  });

  test('hold no secrets', () => {
    assert.deepEqual(pathsLike(/(^|\/)(\.env|\.npmrc|\.netrc|id_\w+|.*\.(key|p12|pfx|jks|kdbx))$/), []);
    assert.deepEqual(pathsLike(/(^|\/)(shadow|gshadow|\.docker|\.ssh)(\/|$)/), []);
    const config = built.podman.run('image', 'inspect', '--format={{json .Config.Env}}', built.image);
    assert.doesNotMatch(config, /MILLRACE_(?!PROCESSES=1)|TOKEN|SECRET|PASSWORD/i);
  });

  test('belong to root, are not set-user-ID and cannot be written by others', () => {
    const own = files.filter(
      ({ path }) => !/^(dev|proc|sys|run|etc\/(hosts|hostname|resolv\.conf|mtab))(\/|$)/.test(path),
    );
    assert.deepEqual(
      own.filter(({ owner }) => owner !== '0/0'),
      [],
    );
    assert.deepEqual(
      own.filter(({ mode }) => /s/i.test(mode.slice(1))),
      [],
    );
    assert.deepEqual(
      own.filter(({ mode }) => mode[0] !== 'l' && mode[8] === 'w'),
      [],
    );
  });
});

suite('the SBOM of the image', () => {
  test('names Node with its libraries, the packages of the base, and every package of the bundle', () => {
    const components = imageComponents(built);
    const names = (kind: string) => components.filter((each) => each.kind === kind).map(({ name }) => name);
    assert.deepEqual(forbiddenLicences(components), []);
    assert.deepEqual(names('generic'), ['node']);
    const [node] = components.filter(({ name }) => name === 'node');
    assert.ok(node?.parts?.some(({ name }) => name === 'openssl'));
    const noted = listFiles(built.podman, built.image)
      .flatMap(({ path }) => /^var\/lib\/dpkg\/status\.d\/(.+)$/.exec(path)?.[1] ?? [])
      .toSorted();
    assert.deepEqual(names('deb').toSorted(), noted);
    assert.deepEqual(
      components.filter(({ kind }) => kind === 'npm'),
      npmComponents(built.metafile),
    );
  });
});

suite('the configuration of the image', () => {
  type Config = {
    User: string;
    Entrypoint: string[];
    Cmd: string[];
    StopSignal: string;
    Labels: Record<string, string>;
    Healthcheck: { Test: string[] };
    ExposedPorts: Record<string, object>;
  };
  let config: Config & { Healthcheck: { Test: string[] } };
  before(() => {
    const [inspected] = JSON.parse(built.podman.run('image', 'inspect', built.image)) as (Config & {
      Config: Config;
    })[];
    config = { ...inspected, ...inspected?.Config } as Config;
  });

  test('starts the server as user 65532 and stops it by SIGTERM', () => {
    assert.equal(config.User, '65532:65532');
    assert.deepEqual(config.Entrypoint, ['/opt/node/bin/node', '/opt/millrace/bin/millrace.cjs']);
    assert.deepEqual(config.Cmd, ['start']);
    assert.equal(config.StopSignal, 'SIGTERM');
    assert.deepEqual(Object.keys(config.ExposedPorts).toSorted(), ['8080/tcp', '8081/tcp', '9464/tcp']);
  });

  test('names version, commit, licence and source in the labels of the OCI', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT_DIR, 'package.json'), 'utf8')) as { version: string };
    const label = (name: string) => config.Labels[`org.opencontainers.image.${name}`] ?? '';
    assert.equal(label('version'), version);
    assert.match(label('revision'), /^[0-9a-f]{40}$/);
    assert.match(label('created'), /^\d{4}-\d\d-\d\dT/);
    assert.equal(label('licenses'), 'Apache-2.0');
    assert.match(label('source'), /^https:/);
  });

  test('checks health by /readyz: it passes beside a ready server and fails without one', async () => {
    const [kind, ...command] = config.Healthcheck.Test;
    assert.equal(kind, 'CMD');
    await using container = await start();
    assert.equal(built.podman.run('exec', container.name, ...command), 'The server is ready.\n');
    await container.signal('SIGTERM');
    const alone = runOnce(['healthcheck'], settings);
    assert.equal(alone.status, 5);
    assert.match(alone.stderr, /cannot be reached/);
  });
});

suite('a container with a read-only root and no capabilities', () => {
  test(`is ready within ${READY_WITHIN_MS / 1000} s`, async (t) => {
    const starts: { readyAfterMs: number; heldUpMs: number }[] = [];
    const best = () => Math.min(...starts.map(({ readyAfterMs, heldUpMs }) => readyAfterMs - heldUpMs));
    do {
      await using container = await start();
      starts.push(container);
    } while (best() >= READY_WITHIN_MS && starts.length < STARTS);
    const told = starts.map(
      ({ readyAfterMs, heldUpMs }) => `${readyAfterMs} ms (${heldUpMs} of them waiting for a CPU)`,
    );
    t.diagnostic(`ready after ${told.join(', ')}`);
    assert.ok(best() < READY_WITHIN_MS, `ready after ${told.join(', ')}`);
  });

  test('is held to it by the kernel', async () => {
    await using container = await start();
    const status = readFileSync(`/proc/${container.pid}/status`, 'utf8');
    assert.match(status, /^Uid:\t65532\t65532\t65532\t65532$/m);
    assert.match(status, /^Gid:\t65532\t65532\t65532\t65532$/m);
    for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb']) assert.match(status, new RegExp(`^Cap${set}:\t0+$`, 'm'));
    assert.match(status, /^NoNewPrivs:\t1$/m);
    const mounts = readFileSync(`/proc/${container.pid}/mountinfo`, 'utf8');
    assert.match(mounts, /^\S+ \S+ \S+ \S+ \/ ro[, ]/m);
  });

  test('ends with exit code 0 when it is told to stop', async () => {
    await using container = await start();
    assert.equal(await container.signal('SIGTERM'), 0);
  });

  test('delivers after kill -9 and a new start what it had accepted before', { timeout: 180_000 }, async () => {
    const received = Promise.withResolvers<string>();
    let isUp = false;
    const receiver = createServer((request, response) => {
      response.writeHead(isUp ? 200 : 503, { 'Retry-After': '1' }).end();
      if (isUp) void json(request).then((body) => received.resolve((body as { event: string }).event));
      else request.resume();
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    using _ = { [Symbol.dispose]: () => receiver.close().closeAllConnections() };
    const retrySoon = { ...settings, MILLRACE_RETRY_SCALE: '1000' };
    {
      await using container = await startContainer({ ...built, settings: retrySoon, readyUrl: urls.ready });
      const source = await ask<{ id: string }>('/sources', { name: 'Shop' });
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
      const webhook = { targets: [{ url }], sharedSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' };
      await ask('/destinations', { sourceId: source.id, catalog: 'Webhooks', enabled: true, settings: webhook });
      const { key } = await ask<{ key: string }>(`/sources/${source.id}/write-keys`, {});
      await untilAccepted(key, 'Order Completed');
      assert.equal(await container.signal('SIGKILL'), 137);
    }
    isUp = true;
    await using again = await startContainer({ ...built, settings: retrySoon, readyUrl: urls.ready });
    assert.equal(await received.promise, 'Order Completed');
    assert.equal(await again.signal('SIGTERM'), 0);
  });

  test('runs every other command of millrace, and says what is wrong with its settings', () => {
    assert.match(runOnce(['--version']).stdout, /^\d+\.\d+\.\d+/);
    assert.match(runOnce(['--help']).stdout, /Usage: millrace/);
    const { status, stderr } = runOnce([], { MILLRACE_ROLES: 'everything' });
    assert.equal(status, 78);
    assert.match(stderr, /MILLRACE_ROLES must be one or more of/);
  });
});

test('the e2e story of client libraries and receivers is the same with the image', () => {
  const env: NodeJS.ProcessEnv = { ...process.env, E2E_START_COMMAND: runCommand(built.podman, built.image).join(' ') };
  // The mark by which `node --test` knows its own children: this run is one of its own.
  delete env['NODE_TEST_CONTEXT'];
  const story = join(ROOT_DIR, 'e2e/src/webhook-story.test.ts');
  const told = spawnSync(process.execPath, ['--test', '--test-reporter=spec', story], { encoding: 'utf8', env });
  assert.equal(told.status, 0, told.stdout + told.stderr);
  assert.match(told.stdout, /ℹ pass [1-9]/);
});

/** A new write key is known within a moment; until then the call is refused. */
async function untilAccepted(key: string, event: string): Promise<void> {
  const headers = { Authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` };
  const body = JSON.stringify({ userId: 'user-1', event });
  const giveUpAt = Date.now() + 60_000;
  for (;;) {
    const { status } = await fetch(`${urls.collect}/v1/track`, { method: 'POST', headers, body });
    if (status === 200) return;
    assert.ok(status === 401 && Date.now() < giveUpAt, `the call was answered ${status}`);
  }
}
