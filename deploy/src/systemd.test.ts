import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { readConfig, ROLES } from '../../server/src/config.ts';
import { DEFAULTS } from '../../server/src/read-setting.ts';
import { makeSecrets, run, SYSTEMD_DIR } from './systemd.ts';

/** Of ten; systemd calls everything below 2 well protected. */
const MOST_EXPOSED = 2;

suite('the systemd units', () => {
  for (const unit of ['millrace@.service', 'nats.service']) {
    test(`${unit} is understood by systemd, and little exposed`, () => {
      const verified = run('systemd-analyze', ['verify', join(SYSTEMD_DIR, unit)]);
      assert.equal(verified.stderr, '');
      const looked = run('systemd-analyze', ['security', '--offline=true', join(SYSTEMD_DIR, unit)]);
      const exposure = Number(/Overall exposure level for .*: ([\d.]+)/.exec(looked.stdout)?.[1]);
      assert.ok(exposure < MOST_EXPOSED, `${exposure}: ${looked.stderr}`);
    });
  }

  test('give the roles of one machine ports of their own', () => {
    const dropIns = readdirSync(SYSTEMD_DIR).filter((name) => name.endsWith('.service.d'));
    const text = dropIns.map((name) => readFileSync(join(SYSTEMD_DIR, name, 'role.conf'), 'utf8')).join('');
    const ports = [...text.matchAll(/MILLRACE_METRICS_PORT=(\d+)/g)].map(([, port]) => port);
    assert.equal(new Set([...ports, DEFAULTS.MILLRACE_METRICS_PORT]).size, ROLES.length);
  });

  test('open no port to other machines unless a file of settings says so', () => {
    const lines = readFileSync(join(SYSTEMD_DIR, 'millrace@.service'), 'utf8').split('\n');
    const host = lines.findIndex((line) => /^Environment=.*\bMILLRACE_HOST=127\.0\.0\.1\b/.test(line));
    assert.ok(host > 0);
    assert.ok(lines.some((line) => line === 'EnvironmentFile=-/etc/millrace/millrace.env'));
  });

  test('hand each role the secrets that make-secrets writes for it, and no others', () => {
    using made = makeSecrets();
    for (const role of ROLES) {
      const dir = join(made.path, 'millrace/secrets', role);
      assert.deepEqual(credentialsOf(role), readdirSync(dir).toSorted(), role);
      for (const name of readdirSync(dir)) assert.equal(statSync(join(dir, name)).mode & 0o777, 0o600);
    }
  });
});

suite('the secrets of an installation with systemd', () => {
  test('start each role as it is: its settings are complete', () => {
    using made = makeSecrets('10.0.0.1:4222,10.0.0.2:4222', '10.0.0.9:5432');
    for (const role of ROLES) {
      const MILLRACE_SECRETS_DIR = join(made.path, 'millrace/secrets', role);
      const read = readConfig({ MILLRACE_ROLES: role, MILLRACE_SECRETS_DIR });
      assert.ok(read.ok, role);
      const user = `nats://${role}:[0-9a-f]{48}@10\\.0\\.0`;
      assert.match(read.value.natsUrl, new RegExp(`^${user}\\.1:4222,${user}\\.2:4222$`));
    }
  });

  test('are never made twice in one place', () => {
    using made = makeSecrets();
    const again = run(join(SYSTEMD_DIR, 'make-secrets'), [made.path]);
    assert.equal(again.status, 1);
    assert.match(again.stderr, /New secrets would not fit the data of an installation: name another folder/);
    assert.equal(run(join(SYSTEMD_DIR, 'make-secrets'), []).status, 2);
  });
});

/** The names in the unit and in the drop-ins of a role. */
function credentialsOf(role: string): string[] {
  const dropIns = readdirSync(SYSTEMD_DIR).filter((name) => name === `millrace@${role}.service.d`);
  const files = ['millrace@.service', ...dropIns.map((name) => join(name, 'role.conf'))];
  const text = files.map((file) => readFileSync(join(SYSTEMD_DIR, file), 'utf8')).join('\n');
  const lines = text.matchAll(/^LoadCredential=(\w+):\/etc\/millrace\/secrets\/%i\/(\w+)$/gm);
  return [...lines].map(([, name = '', file]) => (assert.equal(name, file), name)).toSorted();
}
