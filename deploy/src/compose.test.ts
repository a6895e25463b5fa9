import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { NATS_USERS } from '../../server/src/stream/layout/permissions.ts';
import { openProject, type Project, runSetup } from './compose-project.ts';
import { copyOfDeploy, DEPLOY_DIR, runTool } from './tools.ts';

const FILES = readdirSync(join(DEPLOY_DIR, 'compose')).filter((name) => name.endsWith('.yaml'));
const DOMAINS = ['--collect-domain', 'events.example.com', '--console-domain', 'console.example.com'];

suite('the compose files', () => {
  test('are valid by the schema of the Compose Specification', () => {
    const args = ['--builtin-schema', 'vendor.compose-spec', ...FILES];
    const done = runTool('check-jsonschema', args, { cwd: join(DEPLOY_DIR, 'compose') });
    assert.equal(done.status, 0, done.stdout + done.stderr);
  });

  test('are refused before setup has run, with the command to run', () => {
    using copy = copyOfDeploy();
    const done = runTool('compose-config', ['compose.yaml'], { cwd: join(copy.path, 'compose') });
    assert.equal(done.status, 1);
    assert.match(done.stderr, /run \.\/setup first/);
  });

  for (const args of [[], DOMAINS, ['--ha'], ['--ha', ...DOMAINS]]) {
    suite(`after setup ${args.join(' ')}`, () => {
      let project: ReturnType<typeof openProject>;
      before(() => void (project = openProject(...args)));
      after(() => project[Symbol.dispose]());

      test('run every container without privileges, with limits, and again after a failure', () => {
        for (const [name, service] of Object.entries(project.services)) {
          assert.equal(service.read_only, true, name);
          assert.deepEqual(service.cap_drop, ['ALL'], name);
          assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name);
          assert.ok(service.privileged !== true, name);
          assert.ok(Number(service.deploy.resources.limits?.memory) > 0, `${name} has a limit of memory`);
          assert.ok(Number(service.deploy.resources.limits?.pids) > 0, `${name} has a limit of processes`);
          if (name === 'volumes') continue;
          assert.equal(service.restart, 'unless-stopped', name);
          assert.ok((service.healthcheck?.test.length ?? 0) > 1, `${name} has a health check`);
          if (name !== 'proxy') assert.match(service.user ?? '', /^[1-9]\d*:[1-9]\d*$/, `${name} is not root`);
        }
        assert.deepEqual(capabilitiesAdded(project), { proxy: ['NET_BIND_SERVICE'], volumes: ['CHOWN'] });
      });

      test('name every image with a version', () => {
        for (const { image } of Object.values(project.services)) assert.match(image, /:v?\d+\.\d+/);
      });

      test('publish the collection API and the console where the operator chose, and nothing else to the world', () => {
        const published = Object.entries(project.services).flatMap(([name, { ports = [] }]) =>
          ports.filter(({ host_ip }) => host_ip !== '127.0.0.1').map(({ published }) => `${name} ${published}`),
        );
        const expected = args.includes('--collect-domain') ? ['proxy 443', 'proxy 443', 'proxy 80'] : [];
        assert.deepEqual(published.toSorted(), expected);
      });

      test('keep NATS and PostgreSQL in networks that lead nowhere', () => {
        for (const [name, { networks = {}, ports = [] }] of Object.entries(project.services)) {
          if (!/^(nats|postgres)/.test(name)) continue;
          assert.deepEqual(ports, [], name);
          for (const network of Object.keys(networks)) assert.equal(project.networks[network]?.internal, true, name);
        }
      });

      test('have no secret in the environment of a container', () => {
        const secrets = Object.values(project.secrets).flatMap(({ file }) => secretsIn(readFileSync(file, 'utf8')));
        assert.ok(secrets.length > 8);
        const shown = JSON.stringify(project);
        for (const secret of secrets) assert.ok(!shown.includes(secret));
      });
    });
  }

  test('give each role of the large installation only its own NATS user and the secrets that it needs', () => {
    using project = openProject('--ha');
    const given = (name: string) => (project.services[name]?.secrets ?? []).map(({ source }) => source).toSorted();
    for (const n of [1, 2]) {
      assert.deepEqual(given(`collect-${n}`), ['collect_nats_url']);
      assert.deepEqual(given(`deliver-${n}`), ['deliver_nats_url', 'keys']);
      const database = ['database_url', 'keys', 'migration_database_url'];
      assert.deepEqual(given(`control-${n}`), ['control_nats_url', ...database]);
      assert.deepEqual(given(`compute-${n}`), ['compute_nats_url', 'database_url']);
    }
    const reach = (name: string) => Object.keys(project.services[name]?.networks ?? {}).toSorted();
    assert.deepEqual(reach('collect-1'), ['metrics', 'nats', 'proxy']);
    assert.deepEqual(reach('deliver-1'), ['metrics', 'nats', 'outside']);
    assert.deepEqual(reach('control-1'), ['database', 'metrics', 'nats', 'proxy']);
    assert.deepEqual(reach('compute-1'), ['database', 'metrics', 'nats']);
  });
});

suite('the Prometheus of the large installation', () => {
  test('accepts its configuration with our rules, and scrapes every process of Millrace', () => {
    using project = openProject('--ha');
    const dir = join(project.path, 'compose/prometheus');
    for (const { source, target } of project.services['prometheus']?.volumes ?? []) {
      if (target.endsWith('alerts.yml')) cpSync(source, join(dir, 'alerts.yml'));
    }
    const checked = spawnSync('promtool', ['check', 'config', join(dir, 'prometheus.yml')], { encoding: 'utf8' });
    assert.equal(checked.status, 0, `promtool (from \`bash e2e/get-clients\`): ${checked.stderr}`);
    const targets = readFileSync(join(dir, 'prometheus.yml'), 'utf8').match(/[\w-]+(?=:9464)/g) ?? [];
    const processes = Object.entries(project.services).filter(
      ([, { environment = {} }]) => environment['MILLRACE_ROLES'],
    );
    assert.deepEqual(targets.toSorted(), processes.map(([name]) => name).toSorted());
  });
});

suite('setup', () => {
  test('makes a secret once, different in each folder, and closes the folder to other users', () => {
    using one = openProject();
    using other = openProject();
    const secretsDir = (path: string) => join(path, 'compose/secrets');
    const contents = (path: string) =>
      readdirSync(secretsDir(path)).map((name) => readFileSync(join(secretsDir(path), name), 'utf8'));
    const before = contents(one.path);
    assert.equal(runSetup(one.path, DOMAINS).status, 0);
    assert.deepEqual(contents(one.path), before);
    for (const text of contents(other.path)) assert.ok(!before.includes(text));
    assert.equal(statSync(secretsDir(one.path)).mode & 0o777, 0o700);
  });

  test('generates a password for every NATS user', () => {
    using project = openProject();
    const text = readFileSync(join(project.path, 'compose/secrets/nats.conf'), 'utf8');
    assert.doesNotMatch(text, /\$NATS_/);
    const named = [...text.matchAll(/user: (\w+), password: "([0-9a-f]{48})"/g)].map(([, user = '']) => user);
    assert.deepEqual(named.toSorted(), [...NATS_USERS, 'system'].toSorted());
  });

  test('keeps the choices of the operator and an image of their own, and takes new versions', () => {
    using project = openProject('--image', 'registry.example.com/millrace:7', '--store', '500GB', ...DOMAINS);
    const file = join(project.path, 'compose/.env');
    const before = readFileSync(file, 'utf8');
    assert.match(before, /^MILLRACE_IMAGE=registry\.example\.com\/millrace:7$/m);
    assert.match(before, /^NATS_MAX_FILE_STORE=500GB$/m);
    assert.equal(runSetup(project.path, []).status, 0);
    assert.equal(readFileSync(file, 'utf8'), before);
  });

  test('refuses what it does not know and what would lose data, and says what to do', () => {
    using project = openProject();
    const refusals: [string[], RegExp][] = [
      [['--ha'], /set up for compose\.yaml.*use a copy of the folder/],
      [['--collect-domain', 'a.example.com'], /give both --collect-domain and --console-domain/],
      [['--collect-domain', 'a.example.com', '--console-domain', 'a.example.com'], /must differ/],
      [['--store', 'much'], /a size such as 200GB/],
      [['--image'], /--image needs a value/],
      [['--tls'], /there is no option --tls/],
    ];
    for (const [args, said] of refusals) {
      const done = runSetup(project.path, args);
      assert.ok(done.status !== 0, args.join(' '));
      assert.match(done.stderr, said);
    }
  });
});

function capabilitiesAdded({ services }: Project): Record<string, string[]> {
  const added = Object.entries(services).filter(([, { cap_add }]) => (cap_add ?? []).length > 0);
  return Object.fromEntries(added.map(([name, { cap_add }]) => [name, cap_add ?? []]));
}

/** Passwords and keys are the only words of these lengths in the files. */
function secretsIn(text: string): string[] {
  return text.match(/[0-9a-f]{48}|[A-Za-z0-9+/]{43}=/g) ?? [];
}
