import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { readConfig } from './config.ts';

suite('the configuration', () => {
  test('starts with nothing set', () => {
    const read = readConfig({});
    assert.ok(read.ok);
    assert.deepEqual(read.value.roles, ['collect', 'deliver', 'control']);
    assert.equal(read.value.collect.port, 8080);
    assert.deepEqual(read.value.stream, {
      replicas: 1,
      eventStreams: 2,
      laneStreams: 2,
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
    });
    assert.ok(!read.ok);
    const named = new Set(read.problems.map((problem) => problem.split(' ')[0]));
    const expected = ['COLLECT_PORT', 'COLLECT_URL', 'REPLICAS', 'RETENTION', 'ROLES', 'TRUSTED_PROXIES'];
    assert.deepEqual(named, new Set(expected.map((name) => `MILLRACE_${name}`)));
  });

  test('takes the public address apart for browsers', () => {
    const read = readConfig({ MILLRACE_COLLECT_URL: 'https://events.example.com/in/' });
    assert.ok(read.ok);
    assert.deepEqual(read.value.collect.publicUrl, { protocol: 'https', host: 'events.example.com/in' });
  });
});
