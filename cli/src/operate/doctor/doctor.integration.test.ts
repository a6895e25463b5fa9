/** Plants faults one by one; doctor has to name each with its remedy. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { startNatsCluster, startPostgresServer } from '@millrace/engines';
import { readConfig } from '@millrace/server/config';
import { connect } from '@nats-io/transport-node';
import { openCertificates } from '../../../../server/testing/certificates.ts';
import { openStack, type Stack, stackSettings } from '../../../../server/testing/stack.ts';
import { MILLRACE, runMillrace } from '../../../testing/run-millrace.ts';
import type { Finding } from './finding.ts';
import { findingsOf, runDoctor } from './run-doctor.ts';

type Change = Record<string, string>;

const OTHER_KEY = `1:${Buffer.alloc(32, 9).toString('base64')}`;
const SECOND_KEY = `2:${Buffer.alloc(32, 2).toString('base64')}`;

suite('doctor', () => {
  let stack: Stack;
  let healthy: Change;
  const planted = new Set<string>();
  const open = new AsyncDisposableStack();

  before(async () => {
    stack = open.use(await openStack());
    healthy = {
      ...stackSettings(stack.natsUrl, stack.postgres),
      MILLRACE_METRICS_PORT: '0',
      MILLRACE_LOG_LEVEL: 'info',
    };
  });
  after(() => open.disposeAsync());

  const diagnose = async (change: Change, dataDir?: string): Promise<Finding[]> =>
    findingsOf(await runDoctor({ read: readConfig({ ...healthy, ...change }), dataDir, listenMs: 0 }));

  /** The finding is there, with its why and its remedy. */
  const names = (findings: readonly Finding[], code: string, remedy: RegExp): void => {
    const finding = findings.find((each) => each.code === code);
    assert.ok(finding !== undefined, `${code} in ${JSON.stringify(findings)}`);
    assert.match(finding.todo, remedy);
    assert.ok(finding.what.length > 20 && finding.why.length > 20 && finding.todo.length > 20);
    planted.add(code);
  };

  test('finds nothing wrong with a server that works', async () => {
    // Not every machine that runs tests has name servers.
    assert.deepEqual(
      (await diagnose({})).filter(({ code }) => code !== 'dns_silent'),
      [],
    );
    const { code, out } = await runMillrace(['doctor', '--json'], {
      env: { ...healthy, MILLRACE_ROLES: 'collect,control' },
    });
    assert.deepEqual([code, (JSON.parse(out) as { ok: boolean }).ok], [0, true], out);
  });

  test('names settings that are wrong, or are dangerous', async () => {
    names(await diagnose({ MILLRACE_RETENTION: 'three days' }), 'settings_invalid', /settings.md/);
    names(await diagnose({ MILLRACE_NATS_CA_FILE: '/nowhere/ca.pem' }), 'settings_invalid', /Correct it/);
    names(await diagnose({ MILLRACE_UNSIGNED_CONFIG: 'allow' }), 'unsigned_allowed', /Remove the setting/);
  });

  test('names a NATS that is away, unknown, or refuses the user', async () => {
    names(await diagnose({ MILLRACE_NATS_URL: 'nats://127.0.0.1:9' }), 'nats_unreachable', /firewall/);
    names(await diagnose({ MILLRACE_NATS_URL: 'nats://nats.invalid:4222' }), 'host_unknown', /Correct the name/);
    const wrong = stack.natsUrl.replace('nats://', 'nats://millrace:wrong@');
    names(await diagnose({ MILLRACE_NATS_URL: wrong }), 'nats_refused', /user and password/);
  });

  test('names NATS servers that sync too late, are too few or too small', async () => {
    names(await diagnose({ MILLRACE_REPLICAS: '3' }), 'servers_too_few', /MILLRACE_REPLICAS=1/);
    names(await diagnose({ MILLRACE_REPLICAS: '3' }), 'replicas_too_few', /Restart control/);
    await using lazy = await startNatsCluster({ nodes: 1, sync: 'default' });
    const findings = await diagnose({ MILLRACE_NATS_URL: lazy.url });
    names(findings, 'nats_server', /Change its configuration/);
    names(findings, 'streams_missing', /role control/);
  });

  test('names rights that the NATS user lacks for the roles of the settings', async () => {
    const asCollect = stack.natsUrl.replace('nats://', 'nats://collect:collect@');
    const findings = await diagnose({ MILLRACE_NATS_URL: asCollect, MILLRACE_ROLES: 'control' });
    names(findings, 'nats_rights_missing', /print-nats-users/);
    const right = await diagnose({ MILLRACE_NATS_URL: asCollect, MILLRACE_ROLES: 'collect' });
    assert.deepEqual(right, []);
  });

  test('names streams that are nearly full, and things in quarantine', async () => {
    const { manager } = stack;
    const { config } = await manager.streams.info('QUARANTINE');
    await manager.streams.update('QUARANTINE', { ...config, max_bytes: 1_000 });
    const admin = await connect({ servers: new URL(stack.nats.adminUrl).host, user: 'admin', pass: 'admin' });
    await admin.request('quarantine.request', 'x'.repeat(850));
    const findings = await diagnose({});
    names(findings, 'stream_full', /capacity.md/);
    names(findings, 'quarantined', /console/);
    await manager.streams.purge('QUARANTINE');
    await manager.streams.update('QUARANTINE', config);
    await admin.close();
  });

  test('names a PostgreSQL that is away, empty, newer, or whose login can do too much', async () => {
    names(await diagnose({ MILLRACE_DATABASE_URL: 'postgres://127.0.0.1:9/x' }), 'database_unreachable', /pg_hba.conf/);
    await using fresh = await startPostgresServer();
    const toFresh = { MILLRACE_DATABASE_URL: fresh.serviceUrl, MILLRACE_MIGRATION_DATABASE_URL: fresh.url };
    names(await diagnose(toFresh), 'migrations_pending', /millrace migrate/);
    const { postgres } = stack;
    names(await diagnose({ MILLRACE_DATABASE_URL: postgres.adminUrl }), 'database_login_too_strong', /two logins/);
    postgres.run('ALTER TABLE sources DISABLE ROW LEVEL SECURITY');
    names(await diagnose({}), 'database_fence_missing', /two logins/);
    postgres.run('ALTER TABLE sources ENABLE ROW LEVEL SECURITY');
    postgres.run(`INSERT INTO schema_migrations VALUES ('9999_future.sql', 'x', now(), '0.0.1')`);
    names(await diagnose({}), 'migrations_newer', /going back is allowed/);
    postgres.run(`UPDATE schema_migrations SET least_version = '99.0.0' WHERE name = '9999_future.sql'`);
    names(await diagnose({}), 'migrations_refused', /upgrade-check/);
    postgres.run(`DELETE FROM schema_migrations WHERE name = '9999_future.sql'`);
  });

  test('names a key ring that is not that of the database', async () => {
    names(await diagnose({ MILLRACE_KEYS: OTHER_KEY }), 'key_ring_wrong', /secret store/);
    await stack.get('POST', '/sources', { name: 'Sealed' });
    names(await diagnose({ MILLRACE_KEYS: SECOND_KEY }), 'key_ring_wrong', /MILLRACE_KEYS/);
  });

  test('names a mail server that is away, and mails that did not get out', async () => {
    const toNowhere = {
      MILLRACE_SMTP_URL: 'smtp+insecure://127.0.0.1:9',
      MILLRACE_MAIL_FROM: 'millrace@example.com',
      MILLRACE_CONSOLE_URL: 'https://millrace.example.com',
    };
    names(await diagnose(toNowhere), 'smtp_unusable', /MILLRACE_SMTP_URL/);
    stack.postgres.run(`INSERT INTO mails (workspace_id, id, kind, state, expires_at, created_at, ended_at, last_error) VALUES
      ('', 'mail_1', 'notice', 'dead', now(), now() - interval '1 day', now(), 'EENVELOPE 550'),
      ('', 'mail_2', 'notice', 'waiting', now(), now() - interval '1 hour', NULL, NULL)`);
    const findings = await diagnose({});
    names(findings, 'mails_dead', /ask again/);
    names(findings, 'mails_late', /MILLRACE_SMTP_URL/);
    stack.postgres.run('DELETE FROM mails');
  });

  test('names a port that another program has, a full disk, and certificates that end', async () => {
    const squatter = createServer().listen(0, '127.0.0.1');
    await once(squatter, 'listening');
    const { port } = squatter.address() as { port: number };
    names(await diagnose({ MILLRACE_CONTROL_PORT: String(port) }), 'port_taken', /ss -ltnp/);
    squatter.close();
    // No file system has less room than this one.
    names(await diagnose({}, '/proc'), 'disk_low', /enlarge the disk/);
    names(await diagnose({}, '/nowhere'), 'disk_unknown', /--data/);
    using certificates = openCertificates();
    const dir = mkdtempSync(join(tmpdir(), 'millrace-doctor-'));
    const file = join(dir, 'ca.pem');
    writeFileSync(file, certificates.authority);
    names(await diagnose({ MILLRACE_NATS_CA_FILE: file }), 'certificate_expires', /Renew it/);
    writeFileSync(file, 'no certificate');
    names(await diagnose({ MILLRACE_NATS_CA_FILE: file }), 'certificate_unreadable', /PEM/);
    rmSync(dir, { recursive: true });
  });

  test('names a low limit of open files, and a clock that is wrong', async () => {
    // oxlint-disable-next-line node/no-process-env -- the shell is found as usual
    const env = { ...healthy, PATH: process.env['PATH'] };
    const shell = `ulimit -n 256; exec "${process.execPath}" "${MILLRACE}" doctor --json`;
    const low = spawnSync('bash', ['-c', shell], { env, encoding: 'utf8' });
    assert.equal(low.status, 6, low.stderr);
    names(findingsOf(JSON.parse(low.stdout) as Parameters<typeof findingsOf>[0]), 'open_files_low', /LimitNOFILE/);
    const clock = join(import.meta.dirname, '../../../../server/testing/shift-clock.ts');
    const shifted = `data:text/javascript,import { shiftClock } from 'file://${clock}'; shiftClock(3600000);`;
    const wrong = await runMillrace(['doctor'], { env: { ...healthy, NODE_OPTIONS: `--import "${shifted}"` } });
    assert.equal(wrong.code, 6, wrong.err);
    assert.match(wrong.out, /PROBLEM {2}.*\[clock_off\]\n {2}why .*\n {2}do .*chrony/);
    planted.add('clock_off');
  });

  test('has been tried with more than fifteen faults', (t) => {
    t.diagnostic(`${planted.size} faults planted and named: ${[...planted].toSorted().join(', ')}`);
    assert.ok(planted.size >= 15, String(planted.size));
  });
});
