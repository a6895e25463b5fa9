import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './free-ports.ts';
import { newerPostgresFolder } from './newer-postgres.ts';
import {
  INITDB_OPTIONS,
  loginsSql,
  OWNER_LOGIN,
  postgresOwner,
  postgresUrl,
  runPostgres,
  runSql,
  SERVICE_LOGIN,
} from './postgres.ts';

export type PostgresServer = AsyncDisposable & {
  /** Signs in as the owner of the tables, which runs migrations and can play the service's role as well. */
  url: string;
  /** Signs in as the service should: owns nothing, and can only play the role `millrace_app`. */
  serviceUrl: string;
  /** Signs in as the superuser. */
  adminUrl: string;
  /** `immediate` is what a power cut looks like to its clients. */
  stop(mode: 'fast' | 'immediate'): void;
  start(): void;
  /** Everything in it, as SQL. */
  dump(): string;
  /** Runs statements as the superuser, and answers what psql prints. */
  run(sql: string, database?: string): string;
};

/** A real server of a test's own, on a free port, stopped and removed when the test lets go of it. */
export async function startPostgresServer({ isNewer = false } = {}): Promise<PostgresServer> {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-postgres-'));
  const owner = postgresOwner();
  chmodSync(dir, 0o700);
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(dir, owner.uid, owner.gid);
  const folder = isNewer ? newerPostgresFolder() : undefined;
  const run = (program: string, args: string[]) => void runPostgres(program, args, folder);
  run('initdb', ['-D', dir, ...INITDB_OPTIONS, '--no-sync']);
  // Right before it is used: initdb takes seconds, in which others would find it free as well.
  const [port = 0] = await freePorts(1);
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${dir} -c fsync=off`;
  const start = () => run('pg_ctl', ['start', '-w', '-D', dir, '-l', join(dir, 'server.log'), '-o', settings]);
  const stop = (mode: string) => run('pg_ctl', ['stop', '-w', '-m', mode, '-D', dir]);
  const isRunning = () => spawnSync('test', ['-e', join(dir, 'postmaster.pid')]).status === 0;
  const stopWithUs = () => {
    if (isRunning()) stop('immediate');
  };
  process.once('exit', stopWithUs);
  start();
  const urlOf = (login: string) => postgresUrl(login, port, 'postgres');
  const adminUrl = urlOf('postgres');
  runSql(adminUrl, loginsSql('postgres'));
  return {
    url: urlOf(OWNER_LOGIN),
    serviceUrl: urlOf(SERVICE_LOGIN),
    adminUrl,
    stop,
    start,
    run: (sql, database = 'postgres') => runSql(postgresUrl('postgres', port, database), sql),
    dump: () => runPostgres('pg_dump', ['--inserts', '--no-owner', adminUrl]),
    async [Symbol.asyncDispose]() {
      process.removeListener('exit', stopWithUs);
      stopWithUs();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
