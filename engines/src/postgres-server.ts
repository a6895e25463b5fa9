import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './free-ports.ts';
import { postgresOwner, runPostgres } from './postgres.ts';

export type PostgresServer = AsyncDisposable & {
  url: string;
  /** `immediate` is what a power cut looks like to its clients. */
  stop(mode: 'fast' | 'immediate'): void;
  start(): void;
  /** Everything in it, as SQL. */
  dump(): string;
  /** Runs statements as the superuser that owns the server, and answers what psql prints. */
  run(sql: string): string;
};

/** A real server of a test's own, on a free port, stopped and removed when the test lets go of it. */
export async function startPostgresServer(): Promise<PostgresServer> {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-postgres-'));
  const owner = postgresOwner();
  chmodSync(dir, 0o700);
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(dir, owner.uid, owner.gid);
  runPostgres('initdb', ['-D', dir, '-U', 'millrace', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync']);
  // Right before it is used: initdb takes seconds, in which others would find it free as well.
  const [port = 0] = await freePorts(1);
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${dir} -c fsync=off`;
  const start = () =>
    void runPostgres('pg_ctl', ['start', '-w', '-D', dir, '-l', join(dir, 'server.log'), '-o', settings]);
  const stop = (mode: string) => void runPostgres('pg_ctl', ['stop', '-w', '-m', mode, '-D', dir]);
  const isRunning = () => spawnSync('test', ['-e', join(dir, 'postmaster.pid')]).status === 0;
  const stopWithUs = () => {
    if (isRunning()) stop('immediate');
  };
  process.once('exit', stopWithUs);
  start();
  const url = `postgres://millrace@127.0.0.1:${port}/postgres`;
  return {
    url,
    stop,
    start,
    run: (sql) => runPostgres('psql', ['-v', 'ON_ERROR_STOP=1', '-qtA', '-c', sql, url]),
    dump: () => runPostgres('pg_dump', ['--inserts', '--no-owner', url]),
    async [Symbol.asyncDispose]() {
      process.removeListener('exit', stopWithUs);
      stopWithUs();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
