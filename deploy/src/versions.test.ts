/** One place names the versions: deploy/versions.env. All that repeat one are held against it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { NATS_VERSION } from '../../engines/src/build-nats.ts';
import { ROOT_DIR } from '@millrace/engines';
import { DEPLOY_DIR } from './tools.ts';

const read = (file: string) => readFileSync(join(ROOT_DIR, file), 'utf8');
const VERSIONS = Object.fromEntries(
  [...read('deploy/versions.env').matchAll(/^(\w+)=(.+)$/gm)].map(([, name = '', value = '']) => [name, value]),
);

suite('the versions of an installation', () => {
  test('are those of the packages and of the engines that CI tests with', () => {
    const version = VERSIONS['MILLRACE_VERSION'];
    for (const file of ['package.json', 'server/package.json', 'cli/package.json']) {
      assert.equal((JSON.parse(read(file)) as { version: string }).version, version, file);
    }
    assert.equal(VERSIONS['NATS_IMAGE'], `nats:${NATS_VERSION}-alpine`);
  });

  test('are those of the chart', () => {
    const chart = read('deploy/helm/millrace/Chart.yaml');
    for (const key of ['version', 'appVersion']) {
      assert.match(chart, new RegExp(`^${key}: ${VERSIONS['MILLRACE_VERSION']}$`, 'm'));
    }
    assert.match(
      read('deploy/helm/millrace/values.yaml'),
      new RegExp(`^  repository: ${VERSIONS['MILLRACE_IMAGE']}$`, 'm'),
    );
    assert.match(read('deploy/helm/examples/nats.yaml'), new RegExp(`tag: ${NATS_VERSION}-alpine`));
    const postgres = VERSIONS['POSTGRES_IMAGE']?.replace('postgres:', '');
    assert.match(read('deploy/helm/examples/postgresql.yaml'), new RegExp(`postgresql:${postgres}$`, 'm'));
  });

  test('are named by no compose file and no page', () => {
    const names = ['nats:', 'postgres:', 'caddy:', 'prom/prometheus:', 'grafana/grafana:'];
    for (const file of ['compose/compose.yaml', 'compose/compose.ha.yaml', 'compose/common.yaml']) {
      const text = readFileSync(join(DEPLOY_DIR, file), 'utf8');
      for (const name of names) assert.doesNotMatch(text, new RegExp(`image: ['"]?${name}`), file);
    }
  });

  test('are all used', () => {
    const setup = readFileSync(join(DEPLOY_DIR, 'compose/setup'), 'utf8');
    for (const name of Object.keys(VERSIONS)) assert.match(setup, new RegExp(`version ${name}\\)`), name);
  });
});

suite('the NATS accounts in deploy/nats', () => {
  test('are those that this version prints for up to 16 streams of events, of lanes and of outcomes', () => {
    const env = {
      ...process.env,
      MILLRACE_EVENT_STREAMS: '16',
      MILLRACE_LANE_STREAMS: '16',
      MILLRACE_OUTCOME_STREAMS: '16',
    };
    const printed = execFileSync(process.execPath, ['server/src/print-nats-users.ts'], { cwd: ROOT_DIR, env });
    const how =
      'MILLRACE_EVENT_STREAMS=16 MILLRACE_LANE_STREAMS=16 MILLRACE_OUTCOME_STREAMS=16 node server/src/print-nats-users.ts > deploy/nats/accounts.conf';
    assert.equal(read('deploy/nats/accounts.conf'), printed.toString(), `print them again: ${how}`);
  });
});
