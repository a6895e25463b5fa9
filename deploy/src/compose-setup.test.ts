/** Several runs of `setup` in one folder, and what the compose files make of its choices. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { suite, test } from 'node:test';
import { openProject, type Project, runSetup } from './compose-project.ts';
import { copyOfDeploy, outputOf } from './tools.ts';

const DOMAINS = ['--collect-domain', 'events.example.com', '--console-domain', 'console.example.com'];

suite('a second setup', () => {
  for (const mode of [[], ['--ha']]) {
    test(`with names opens the proxy to the world ${mode.join('')}`, () => {
      using copy = copyOfDeploy();
      setUp(copy.path, mode);
      assert.equal(choices(copy.path)['PROXY_PUBLISH'], '127.0.0.1');
      setUp(copy.path, [...mode, ...DOMAINS]);
      assert.equal(choices(copy.path)['PROXY_PUBLISH'], '0.0.0.0');
      setUp(copy.path, mode);
      assert.equal(choices(copy.path)['PROXY_PUBLISH'], '0.0.0.0');
    });
  }

  test('keeps an address of the proxy that the operator chose', () => {
    for (const address of ['10.0.0.5', '127.0.0.1']) {
      using copy = copyOfDeploy();
      setUp(copy.path, DOMAINS);
      const file = join(copy.path, 'compose/.env');
      writeFileSync(file, readFileSync(file, 'utf8').replace('PROXY_PUBLISH=0.0.0.0', `PROXY_PUBLISH=${address}`));
      setUp(copy.path, DOMAINS);
      assert.equal(choices(copy.path)['PROXY_PUBLISH'], address);
    }
  });
});

suite('the settings of a compose installation', () => {
  test('have the public address where a proxy with TLS is in front of Millrace', () => {
    for (const [args, url] of [
      [[], ''],
      [['--ha'], 'https://collect.localhost'],
      [DOMAINS, 'https://events.example.com'],
      [['--ha', ...DOMAINS], 'https://events.example.com'],
    ] as const) {
      using project = openProject(...args);
      for (const settings of settingsOf(project)) {
        assert.equal(settings['MILLRACE_COLLECT_URL'], url, args.join(' '));
        assert.equal(settings['MILLRACE_TRUSTED_PROXIES'], '10.213.57.10/32');
        assert.equal(settings['MILLRACE_DRAIN_MS'], '5000');
      }
    }
  });

  test('are those of millrace.env where it names them', () => {
    using copy = copyOfDeploy();
    setUp(copy.path, DOMAINS);
    const own = {
      MILLRACE_DRAIN_MS: '9000',
      MILLRACE_TRUSTED_PROXIES: '10.213.57.1/32',
      MILLRACE_COLLECT_URL: 'https://in.example.com',
      MILLRACE_RETENTION: '24h',
    };
    const lines = Object.entries(own).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(copy.path, 'compose/millrace.env'), lines.join(''));
    const printed = outputOf('compose-config', ['compose.yaml'], { cwd: join(copy.path, 'compose') });
    const [settings = {}] = settingsOf(JSON.parse(printed) as Project);
    assert.partialDeepStrictEqual(settings, own);
  });
});

suite('the networks of the large installation', () => {
  test('lead outside for deliver, the proxy and Grafana alone, for each in a network of its own', () => {
    using project = openProject('--ha');
    const outside: Record<string, string[]> = {};
    for (const [name, { networks = {}, ports = [] }] of Object.entries(project.services)) {
      const open = Object.keys(networks).filter((network) => project.networks[network]?.internal !== true);
      for (const network of open) (outside[network] ??= []).push(name);
      // Docker publishes no port of a container that has internal networks only.
      assert.ok(ports.length === 0 || open.length === 1, name);
    }
    assert.deepEqual(outside, { edge: ['proxy'], grafana: ['grafana'], outside: ['deliver-1', 'deliver-2'] });
    assert.ok('proxy' in (project.services['proxy']?.networks ?? {}));
  });
});

/** The environment of each process of Millrace. */
function settingsOf({ services }: Project): Record<string, string>[] {
  const all = Object.values(services).map(({ environment = {} }) => environment);
  return all.filter((environment) => environment['MILLRACE_ROLES'] !== undefined);
}

function setUp(path: string, args: string[]): void {
  const done = runSetup(path, args);
  assert.equal(done.status, 0, done.stderr);
}

function choices(path: string): NodeJS.Dict<string> {
  return parseEnv(readFileSync(join(path, 'compose/.env'), 'utf8'));
}
