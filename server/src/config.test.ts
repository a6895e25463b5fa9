import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { suite, test } from 'node:test';
import { readConfig } from './config.ts';
import { DEMO_KEY, DEMO_TOKEN } from './secrets/demo-secrets.ts';

const MILLRACE_KEYS = `1:${Buffer.alloc(32).toString('base64')}`;

suite('the configuration', () => {
  test('starts with nothing set but the keys', () => {
    const read = readConfig({ MILLRACE_KEYS });
    assert.ok(read.ok);
    assert.deepEqual(read.value.roles, ['collect', 'deliver', 'control', 'compute']);
    assert.equal(read.value.collect.port, 8080);
    assert.deepEqual(read.value.stream, {
      replicas: 1,
      eventStreams: 2,
      laneStreams: 2,
      outcomeStreams: 1,
      retentionMs: 72 * 3_600_000,
      dedupWindowMs: 600_000,
    });
  });

  test('reports every mistake at once, by the name of the setting', () => {
    const read = readConfig({
      MILLRACE_ROLES: 'collect,router',
      MILLRACE_COLLECT_PORT: '99999',
      MILLRACE_REPLICAS: '2',
      MILLRACE_RETENTION: '72',
      MILLRACE_TRUSTED_PROXIES: '10.0.0.0/99',
      MILLRACE_COLLECT_URL: 'events.example.com',
      MILLRACE_KEYS: '1:short',
      MILLRACE_BOOTSTRAP_TOKEN: 'guess-me',
      MILLRACE_DATABASE_URL: '127.0.0.1',
      MILLRACE_ALLOW_CIDRS: '10.0.0.0',
      MILLRACE_CONSOLE_DIR: import.meta.dirname,
    });
    assert.ok(!read.ok);
    const named = read.problems.map((problem) => problem.split(' ')[0] ?? '').toSorted();
    const access = ['ALLOW_CIDRS', 'BOOTSTRAP_TOKEN', 'CONSOLE_DIR', 'DATABASE_URL', 'KEYS'];
    const expected = ['COLLECT_PORT', 'COLLECT_URL', 'REPLICAS', 'RETENTION', 'ROLES', 'TRUSTED_PROXIES', ...access];
    assert.deepEqual(named, expected.map((name) => `MILLRACE_${name}`).toSorted());
  });

  test('names every mistake about NATS and repeats no secret', () => {
    const read = readConfig({
      MILLRACE_KEYS,
      MILLRACE_NATS_URL: 'https://user:secret-password@127.0.0.1:4222',
      MILLRACE_NATS_CA_FILE: '/no/such/ca.pem',
      MILLRACE_NATS_CERT_FILE: import.meta.filename,
      MILLRACE_NATS_NKEY_FILE: import.meta.filename,
    });
    assert.ok(!read.ok);
    assert.deepEqual(
      read.problems.map((problem) => problem.split(' ').slice(0, 3).join(' ')),
      [
        'MILLRACE_NATS_URL must be',
        'MILLRACE_NATS_CA_FILE names a',
        'MILLRACE_NATS_CERT_FILE and MILLRACE_NATS_KEY_FILE',
        'MILLRACE_NATS_URL names a',
      ],
    );
    assert.doesNotMatch(read.problems.join(), /secret-password/);
  });

  test('takes the public address apart for browsers', () => {
    const read = readConfig({ MILLRACE_KEYS, MILLRACE_COLLECT_URL: 'https://events.example.com/in/' });
    assert.ok(read.ok);
    assert.deepEqual(read.value.collect.publicUrl, { protocol: 'https', host: 'events.example.com/in' });
  });

  test('gives each listener the common address, or one of its own', () => {
    const common = readConfig({ MILLRACE_KEYS, MILLRACE_HOST: '10.0.0.1' });
    const apart = readConfig({
      MILLRACE_KEYS,
      MILLRACE_COLLECT_HOST: '::',
      MILLRACE_CONTROL_HOST: '127.0.0.1',
      MILLRACE_METRICS_HOST: '10.0.0.2',
    });
    const hosts = (read: typeof common) =>
      read.ok && [read.value.collect.host, read.value.control.host, read.value.metrics.host];
    assert.deepEqual(hosts(common), ['10.0.0.1', '10.0.0.1', '10.0.0.1']);
    assert.deepEqual(hosts(apart), ['::', '127.0.0.1', '10.0.0.2']);
  });

  test('refuses the secrets of the demo, which are in the source for everybody to read', () => {
    const demo = {
      MILLRACE_BOOTSTRAP_TOKEN: DEMO_TOKEN,
      MILLRACE_KEYS: `7:${randomBytes(32).toString('base64')},8:${DEMO_KEY.toString('base64')}`,
    };
    const read = readConfig(demo);
    assert.ok(!read.ok);
    const named = read.problems.map((problem) => problem.split(' ')[0] ?? '').toSorted();
    assert.deepEqual(named, Object.keys(demo).toSorted());
    assert.ok(readConfig({}, demo).ok, 'npm run dev uses them');
  });

  test('asks for keys only where secrets are sealed or opened', () => {
    for (const role of ['collect', 'compute']) assert.ok(readConfig({ MILLRACE_ROLES: role }).ok);
    for (const role of ['control', 'deliver']) {
      const read = readConfig({ MILLRACE_ROLES: role });
      assert.ok(!read.ok);
      assert.match(read.problems.join(), /^MILLRACE_KEYS must be set for control and deliver/);
    }
  });
});
