/** Every user of a machine can read the arguments of its processes, so no script may put a secret there. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { SYSTEMD_DIR } from './systemd.ts';
import { copyOfDeploy, DEPLOY_DIR } from './tools.ts';

const PROGRAMS = ['base64', 'cat', 'chmod', 'cp', 'head', 'mkdir', 'mv', 'od', 'sed', 'tr'];

suite('no program gets a secret as an argument', () => {
  for (const args of [[], ['--ha']]) {
    test(`from setup ${args.join('')}`, () => {
      using copy = copyOfDeploy();
      const seen = argumentsSeen(join(copy.path, 'compose/setup'), args);
      assert.match(seen, /^sed /m);
      assertHidden(seen, join(copy.path, 'compose/secrets'));
    });
  }

  test('from make-secrets', () => {
    using dir = openDir();
    const folder = join(dir.path, 'made');
    const seen = argumentsSeen(join(SYSTEMD_DIR, 'make-secrets'), [folder, '10.0.0.1:4222,10.0.0.2:4222']);
    assert.match(seen, /^sed /m);
    assertHidden(seen, folder);
  });

  test('from create-logins.sh', () => {
    using dir = openDir();
    const SECRETS_DIR = join(dir.path, 'secrets');
    mkdirSync(SECRETS_DIR);
    for (const name of ['postgres_owner_password', 'postgres_service_password']) {
      writeFileSync(join(SECRETS_DIR, name), name.padEnd(48, '0').replaceAll(/[^0-9a-f]/g, '1'));
    }
    const script = join(DEPLOY_DIR, 'compose/postgres/create-logins.sh');
    const seen = argumentsSeen(script, [], { SECRETS_DIR, POSTGRES_USER: 'postgres' });
    assert.match(seen, /^psql /m);
    assertHidden(seen, SECRETS_DIR);
  });
});

test('both ways to make the database close it to other logins', () => {
  const statements = (file: string) =>
    (readFileSync(file, 'utf8').match(/^(?:CREATE|REVOKE|GRANT) .*;$/gm) ?? []).map((line) =>
      line.replace(/PASSWORD \S+?(?=[ ;])/, 'PASSWORD'),
    );
  const compose = statements(join(DEPLOY_DIR, 'compose/postgres/create-logins.sh'));
  assert.ok(compose.includes('REVOKE ALL ON DATABASE millrace FROM PUBLIC;'));
  assert.deepEqual(statements(join(SYSTEMD_DIR, 'make-secrets')), compose);
});

/** Runs a script with programs that note their arguments before they work; `psql` only notes them. */
function argumentsSeen(script: string, args: string[], env: Record<string, string> = {}): string {
  using dir = openDir();
  const notes = join(dir.path, 'notes');
  for (const name of [...PROGRAMS, 'psql']) {
    const real = name === 'psql' ? '' : `exec ${execFileSync('which', [name], { encoding: 'utf8' }).trim()} "$@"`;
    writeFileSync(join(dir.path, name), `#!/bin/sh\necho ${name} "$@" >>${notes}\n${real}\n`, { mode: 0o755 });
  }
  const PATH = `${dir.path}:${process.env['PATH']}`;
  const done = spawnSync('sh', [script, ...args], { env: { ...env, PATH }, encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
  return readFileSync(notes, 'utf8');
}

function assertHidden(seen: string, folder: string): void {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const secrets = files.flatMap(
    ({ parentPath, name }) =>
      readFileSync(join(parentPath, name), 'utf8').match(/[0-9a-f]{48}|[A-Za-z0-9+/]{43}=/g) ?? [],
  );
  assert.ok(secrets.length > 1);
  for (const secret of secrets) assert.ok(!seen.includes(secret));
}

function openDir(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'millrace-secrets-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
