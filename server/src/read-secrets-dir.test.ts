import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { readConfig } from './config.ts';

const KEYS = `1:${Buffer.alloc(32, 7).toString('base64')}`;

suite('settings from files', () => {
  test('are read by the names of the files, without the final line break', () => {
    using dir = secretsDir({ MILLRACE_KEYS: `${KEYS}\n`, MILLRACE_NATS_URL: 'nats://collect:pass@nats:4222\r\n' });
    const read = readConfig({ MILLRACE_SECRETS_DIR: dir.path });
    assert.ok(read.ok);
    assert.equal(read.value.natsUrl, 'nats://collect:pass@nats:4222');
    assert.deepEqual(read.value.control.keys.get(1), Buffer.alloc(32, 7));
  });

  test('are masked where settings are shown', () => {
    using dir = secretsDir({ MILLRACE_KEYS: KEYS });
    const read = readConfig({ MILLRACE_SECRETS_DIR: dir.path });
    assert.ok(read.ok);
    assert.ok(!JSON.stringify(read.value.shown).includes(KEYS));
  });

  test('leave files of the supervisor alone', () => {
    using dir = secretsDir({ MILLRACE_KEYS: KEYS, 'millrace.conf': 'x', '..data': 'x' });
    assert.ok(readConfig({ MILLRACE_SECRETS_DIR: dir.path }).ok);
  });

  test('are refused where the environment says otherwise, a name is wrong or a file cannot be read, without their content', () => {
    using dir = secretsDir({ MILLRACE_KEYS: KEYS, MILLRACE_KEY: 'a-secret-under-a-wrong-name' });
    mkdirSync(join(dir.path, 'MILLRACE_BOOTSTRAP_TOKEN'));
    const read = readConfig({ MILLRACE_SECRETS_DIR: dir.path, MILLRACE_KEYS: KEYS });
    assert.ok(!read.ok);
    assert.deepEqual(read.problems.toSorted(), [
      'MILLRACE_KEYS is set in the environment and by a file in MILLRACE_SECRETS_DIR: keep one of the two',
      `MILLRACE_SECRETS_DIR holds a file that this process cannot read: ${join(dir.path, 'MILLRACE_BOOTSTRAP_TOKEN')}`,
      'MILLRACE_SECRETS_DIR holds the file MILLRACE_KEY, which is no setting: remove it or correct its name',
    ]);
  });

  test('need a directory that is there', () => {
    const read = readConfig({ MILLRACE_SECRETS_DIR: '/no/such/directory', MILLRACE_KEYS: KEYS });
    assert.deepEqual(read, {
      ok: false,
      problems: ['MILLRACE_SECRETS_DIR must be a directory that this process can read'],
    });
  });
});

function secretsDir(files: Record<string, string>) {
  const path = mkdtempSync(join(tmpdir(), 'millrace-secrets-'));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}
