/** The operators' view: the metrics of running roles, and the real Prometheus with our rules and dashboard on them. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { freePorts, ROOT_DIR, startNatsCluster } from '@millrace/engines';
import { hashOfKey } from '../src/collect/find-write-key.ts';
import { readConfig } from '../src/config.ts';
import { destination, KEYS, SIGNER, SOURCE_ID, WORKSPACE_ID } from '../testing/deliver-bed.ts';
import { answer, openReceiver } from '../testing/receiver.ts';
import { openLog } from '../src/log.ts';
import { METRICS } from '../src/metrics/declared.ts';
import { startRoles } from '../src/start-roles.ts';
import { until } from '../testing/until.ts';
import { track } from '../testing/samples.ts';

const DEPLOY_DIR = join(ROOT_DIR, 'deploy');
const WRITE_KEY = 'a-write-key';

async function openScene() {
  await using opening = new AsyncDisposableStack();
  const cluster = opening.use(await startNatsCluster());
  const read = readConfig({
    MILLRACE_ROLES: 'collect,deliver',
    MILLRACE_HOST: '127.0.0.1',
    MILLRACE_NATS_URL: cluster.url,
    MILLRACE_COLLECT_PORT: '0',
    MILLRACE_METRICS_PORT: '0',
    MILLRACE_KEYS: `1:${KEYS.get(1)?.toString('base64')}`,
    MILLRACE_ALLOW_CIDRS: '127.0.0.0/8',
    MILLRACE_DRAIN_MS: '0',
  });
  assert.ok(read.ok);
  const running = opening.use(await startRoles(read.value, openLog({ level: 'silent', pretty: false })));
  const good = opening.use(await openReceiver());
  const bad = opening.use(await openReceiver(answer(410)));
  const writer = await running.stream.configWriter(SIGNER);
  const who = { id: SOURCE_ID, workspaceId: WORKSPACE_ID, name: 'Shop', enabled: true };
  for (const [id, { url }] of Object.entries({ dst_good: good, dst_bad: bad })) {
    await writer.putDestination(destination({ id, settings: { targets: [{ url }], sharedSecret: 'a secret' } }));
  }
  await writer.putSource({ ...who, writeKeyHashes: [hashOfKey(WRITE_KEY)] });
  const open = opening.move();
  return {
    cluster,
    metricsUrl: `http://127.0.0.1:${running.metricsPort}`,
    /** The status of a request with these calls. */
    async send(calls: object[], writeKey = WRITE_KEY): Promise<number> {
      const body = JSON.stringify({ writeKey, batch: calls });
      return (await fetch(`http://127.0.0.1:${running.collectPort}/v1/batch`, { method: 'POST', body })).status;
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

let scene: Awaited<ReturnType<typeof openScene>>;

before(async () => {
  scene = await openScene();
  await until(async () => (await scene.send([{ type: 'nothing' }])) === 400);
});
after(async () => scene[Symbol.asyncDispose]());

async function scrape(): Promise<string> {
  const answered = await fetch(`${scene.metricsUrl}/metrics`);
  assert.match(answered.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  return answered.text();
}

async function valueOf(series: string): Promise<number> {
  const line = (await scrape()).split('\n').find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1));
}

suite('what operators see', () => {
  test('metrics say what happened to calls and deliveries', async () => {
    const before = await valueOf('millrace_calls_refused_total{code="type_unknown"}');
    assert.equal(await scene.send([track('one'), track('two'), { type: 'nothing' }]), 200);
    assert.equal(await scene.send([track('one')], 'no key of ours'), 401);
    await until(async () => (await valueOf('millrace_deliveries_total{outcome="delivered"}')) === 2);
    await until(async () => (await valueOf('millrace_dead_letters_total{reason="discarded"}')) === 2);
    const expected = {
      millrace_calls_accepted_total: 2,
      'millrace_calls_refused_total{code="type_unknown"}': before + 1,
      'millrace_requests_refused_total{code="invalid_write_key"}': 1,
      'millrace_collect_requests_total{status="200"}': 1,
      'millrace_attempts_total{outcome="discarded"}': 2,
      'millrace_attempt_errors_total{class="http_4xx"}': 2,
      'millrace_posts_total{answer="2xx"}': 2,
      'millrace_posts_total{answer="4xx"}': 2,
      millrace_append_seconds_count: 1,
      millrace_first_delivery_seconds_count: 2,
      millrace_attempt_seconds_count: 4,
      'millrace_lanes{state="failing"}': 0,
      millrace_attempts_in_flight: 0,
      millrace_attempts_late: 0,
      millrace_attempts_max: 1_000,
      millrace_nats_connected: 1,
      millrace_event_streams_in_trouble: 0,
    };
    for (const [series, value] of Object.entries(expected)) assert.equal(await valueOf(series), value, series);
    assert.ok((await valueOf('process_resident_memory_bytes')) > 0);
    assert.ok((await valueOf('millrace_event_loop_delay_p99_seconds')) >= 0);
  });

  test('no series names a source, a destination or a user', async () => {
    assert.doesNotMatch(await scrape(), /src_|dst_|ws_|"u1"/);
  });

  test('every rule and every panel is about a metric that exists', async () => {
    const text = await scrape();
    for (const file of ['prometheus/alerts.yml', 'prometheus/alerts.test.yml', 'grafana/millrace.json']) {
      const used = readFileSync(join(DEPLOY_DIR, file), 'utf8').match(/\b(millrace|process|nodejs)_\w+/g) ?? [];
      const families = new Set(used.map((name) => name.replace(/(_seconds)_bucket$/, '$1')));
      assert.ok(families.size > 5, file);
      for (const name of families) assert.match(text, new RegExp(`^# TYPE ${name} `, 'm'), `${name} in ${file}`);
    }
  });

  test('the dashboard shows every metric there is', () => {
    const dashboard = readFileSync(join(DEPLOY_DIR, 'grafana/millrace.json'), 'utf8');
    assert.deepEqual(
      Object.keys(METRICS).filter((name) => !dashboard.includes(name)),
      [],
    );
  });

  test('promtool finds the configuration good, and each rule does what its test says', () => {
    for (const args of [
      ['check', 'config', 'prometheus.yml'],
      ['check', 'rules', 'alerts.yml'],
      ['test', 'rules', 'alerts.test.yml'],
      ['test', 'rules', 'slo.test.yml'],
    ]) {
      const done = spawnSync('promtool', args, { cwd: join(DEPLOY_DIR, 'prometheus'), encoding: 'utf8' });
      assert.equal(done.status, 0, `promtool ${args.join(' ')} (from \`bash e2e/get-clients\`): ${done.stderr}`);
    }
  });

  test('the real Prometheus scrapes a running stack and evaluates every rule', async () => {
    await using prometheus = await startPrometheus(new URL(scene.metricsUrl).host);
    type Target = { health: string; lastError: string };
    await until(async () => {
      const { activeTargets } = await prometheus.ask<{ activeTargets: Target[] }>('targets');
      return activeTargets.length === 1 && activeTargets[0]?.health === 'up';
    });
    type Rule = { name: string; health: string; lastError?: string };
    const readRules = async () =>
      (await prometheus.ask<{ groups: { rules: Rule[] }[] }>('rules')).groups.flatMap(({ rules }) => rules);
    await until(async () => (await readRules()).every(({ health }) => health !== 'unknown'));
    const rules = await readRules();
    assert.ok(rules.length >= 10);
    for (const { name, health, lastError } of rules) assert.deepEqual([health, lastError], ['ok', undefined], name);
    const dashboard = JSON.parse(readFileSync(join(DEPLOY_DIR, 'grafana/millrace.json'), 'utf8')) as Dashboard;
    for (const { expr } of dashboard.panels.flatMap(({ targets = [] }) => targets)) {
      const query = expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*');
      await prometheus.ask(`query?query=${encodeURIComponent(query)}`);
    }
  });

  test('/readyz of the metrics port follows NATS, /healthz does not', async () => {
    const status = async (path: string) => (await fetch(`${scene.metricsUrl}${path}`)).status;
    assert.deepEqual([await status('/healthz'), await status('/readyz')], [200, 200]);
    await scene.cluster.nodes[0]?.kill('SIGKILL');
    await until(async () => (await status('/readyz')) === 503);
    assert.equal(await status('/healthz'), 200);
    assert.ok((await valueOf('millrace_nats_losses_total')) >= 4, 'one of each connection');
    await scene.cluster.nodes[0]?.start();
    await until(async () => (await status('/readyz')) === 200);
    assert.equal(await status('/anything'), 404);
  });
});

type Dashboard = { panels: { targets?: { expr: string }[] }[] };

/** With our own files, only looking every second and at this process. */
async function startPrometheus(target: string) {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-prometheus-'));
  cpSync(join(DEPLOY_DIR, 'prometheus'), dir, { recursive: true });
  const file = join(dir, 'prometheus.yml');
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('15s', '1s').replace('localhost:9464', target));
  const [port = 0] = await freePorts(1);
  const args = [`--config.file=${file}`, `--storage.tsdb.path=${dir}/data`, `--web.listen-address=127.0.0.1:${port}`];
  const child = spawn('prometheus', args, { stdio: 'ignore' });
  const stopWithUs = () => child.kill('SIGKILL');
  process.once('exit', stopWithUs);
  const url = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.status === 200);
  return {
    async ask<T>(path: string): Promise<T> {
      const answered = await fetch(`${url}/api/v1/${path}`);
      const { status, data, error } = (await answered.json()) as { status: string; data: T; error?: string };
      assert.equal(status, 'success', `${path}: ${error}`);
      return data;
    },
    async [Symbol.asyncDispose]() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      process.removeListener('exit', stopWithUs);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
