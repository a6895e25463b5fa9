import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { addScene, openStack, type Stack, stackSettings } from '../../../server/testing/stack.ts';
import { openReceiver } from '../../../server/testing/receiver.ts';
import { runMillrace } from '../../testing/run-millrace.ts';

const PLANTED = {
  bootstrap: 'planted-bootstrap-token-of-more-than-32-characters',
  shared: 'planted-shared-secret',
  header: 'planted-header-value',
  inUrl: 'planted-password-in-url',
  logged: 'planted-in-the-log',
};

suite('support-bundle and upgrade-check', () => {
  let stack: Stack;
  let dir: string;
  let env: Record<string, string>;
  const open = new AsyncDisposableStack();

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'millrace-bundle-'));
    stack = open.use(await openStack());
    const receiver = open.use(await openReceiver());
    const { writeKey } = await addScene(stack, receiver.url, { sharedSecret: PLANTED.shared });
    Object.assign(PLANTED, { writeKey });
    env = { ...stackSettings(stack.natsUrl, stack.postgres), MILLRACE_BOOTSTRAP_TOKEN: PLANTED.bootstrap };
  });
  after(async () => {
    await open.disposeAsync();
    rmSync(dir, { recursive: true, force: true });
  });

  test('a bundle holds what helps and none of the secrets, wherever they are', async () => {
    const log = join(dir, 'server.log');
    const lines = [
      { msg: 'setup.waiting', link: `http://localhost:8081/setup#token=${PLANTED.logged}` },
      {
        msg: 'request.failed',
        headers: { authorization: `Bearer ${PLANTED.logged}` },
        url: `nats://x:${PLANTED.logged}@host`,
      },
      {
        msg: 'odd',
        text: `keys ${env['MILLRACE_KEYS']} token ${PLANTED.bootstrap}`,
        sharedSecret: PLANTED.shared,
        writeKey: (PLANTED as { writeKey?: string }).writeKey,
      },
      { msg: 'header', 'x-api-key': PLANTED.header },
    ];
    writeFileSync(log, lines.map((line) => JSON.stringify(line)).join('\n'));
    const to = join(dir, 'support.tar.gz');
    const url = env['MILLRACE_DATABASE_URL']?.replace('://millrace@', `://millrace:${PLANTED.inUrl}@`) ?? '';
    const made = await runMillrace(['support-bundle', '--to', to, '--log', log, '--json'], {
      env: { ...env, MILLRACE_DATABASE_URL: url },
    });
    assert.equal(made.code, 0, made.err);
    assert.equal(statSync(to).mode & 0o077, 0);
    const unpacked = spawnSync('tar', ['-xzf', to, '-C', dir], { encoding: 'utf8' });
    assert.equal(unpacked.status, 0, unpacked.stderr);
    const { entries } = JSON.parse(made.out) as { entries: string[] };
    const all = entries.map((name) => readFileSync(join(dir, 'millrace-support', name), 'utf8')).join('\n');
    const keys = (env['MILLRACE_KEYS'] ?? '').replace('1:', '');
    for (const [name, secret] of Object.entries({ ...PLANTED, keys }))
      assert.ok(!all.includes(secret), `${name} is in the bundle`);
    for (const part of ['EVENTS-0', '"consumers"', 'MILLRACE_RETENTION', '"millrace": "', 'request.failed'])
      assert.ok(all.includes(part), part);
  });

  test('a bundle is made also when no engine answers', async () => {
    const to = join(dir, 'away.tar.gz');
    const away = { ...env, MILLRACE_NATS_URL: 'nats://127.0.0.1:9', MILLRACE_DATABASE_URL: 'postgres://127.0.0.1:9/x' };
    const made = await runMillrace(['support-bundle', '--to', to], { env: away });
    assert.equal(made.code, 0, made.err);
    const again = await runMillrace(['support-bundle', '--to', to], { env: away });
    assert.match(again.err, /cannot be written.*\n.*--to/);
  });

  test('upgrade-check hears the processes, and names what is left', async () => {
    const same = await runMillrace(['upgrade-check'], { env });
    assert.equal(same.code, 0, same.err + same.out);
    assert.match(same.out, /running +.*: 1 processes, collect, compute, control, deliver/);
    stack.postgres.run(`INSERT INTO schema_migrations VALUES ('9999_future.sql', 'x', now(), '99.0.0')`);
    const blocked = await runMillrace(['upgrade-check', '--json'], { env });
    assert.equal(blocked.code, 6);
    assert.match((JSON.parse(blocked.out) as { blockers: string[] }).blockers.join(), /start version 99.0.0 or newer/);
    assert.match(blocked.err, /must not be started now/);
    stack.postgres.run(`DELETE FROM schema_migrations WHERE name = '9999_future.sql'`);
  });
});
