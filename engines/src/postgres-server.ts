import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './free-ports.ts';
import { LOOPBACK } from './net-host.ts';
import { newerPostgresFolder } from './newer-postgres.ts';
import { OWNER_LOGIN, postgresUrl, runPostgres, runSql, SERVICE_LOGIN } from './postgres.ts';
import { postgresTemplate } from './postgres-template.ts';

export type PostgresServer = AsyncDisposable & {
  /** Where its files are. */
  dir: string;
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

export type PostgresOptions = {
  isNewer?: boolean;
  /** The folder in which its own is made; that of temporary files without this. */
  home?: string;
  /** Of its command line: they outweigh those for tests, such as fsync=off. */
  options?: string;
  /** Its URLs have this address instead of loopback: that of the host on which we run, for others of its network. */
  address?: string;
  /** The database begins with it; it is made once, and copied for each server. */
  content?: PostgresContent;
};

export type PostgresContent = { name: string; make(server: PostgresServer): Promise<unknown> };

/** A real server of a test's own, on a free port, stopped and removed when the test lets go of it. */
export async function startPostgresServer(wanted: PostgresOptions = {}): Promise<PostgresServer> {
  const { isNewer = false, home = tmpdir(), options = '', content, address = LOOPBACK } = wanted;
  const dir = mkdtempSync(join(home, 'millrace-postgres-'));
  const folder = isNewer ? newerPostgresFolder() : undefined;
  const run = (program: string, args: string[]) => void runPostgres(program, args, folder);
  const prepared = content && { name: content.name, prepare: (data: string) => makeContent(content, isNewer, data) };
  // `cp` keeps owner and rights: PostgreSQL refuses a folder that others may read.
  copyFolder(await postgresTemplate(folder, prepared), dir);
  if (address !== LOOPBACK) appendFileSync(join(dir, 'pg_hba.conf'), 'host all all samenet trust\n');
  // Right before it is used: in the time that a copy takes, others would find it free as well.
  const [port = 0] = await freePorts(1);
  const addresses = address === LOOPBACK ? LOOPBACK : `${LOOPBACK},${address}`;
  const settings = `-p ${port} -c listen_addresses=${addresses} -c unix_socket_directories=${dir} -c fsync=off ${options}`;
  const start = () => run('pg_ctl', ['start', '-w', '-D', dir, '-l', join(dir, 'server.log'), '-o', settings]);
  const stop = (mode: string) => run('pg_ctl', ['stop', '-w', '-m', mode, '-D', dir]);
  const stopWithUs = () => {
    if (existsSync(join(dir, 'postmaster.pid'))) stop('immediate');
  };
  process.once('exit', stopWithUs);
  start();
  const urlOf = (login: string) => postgresUrl(login, port, 'postgres', address);
  const adminUrl = urlOf('postgres');
  return {
    dir,
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

async function makeContent(content: PostgresContent, isNewer: boolean, data: string): Promise<void> {
  await using server = await startPostgresServer({ isNewer });
  await content.make(server);
  server.stop('fast');
  copyFolder(server.dir, data);
}

/** `cp` shares the blocks where the file system can, which Node's own copy of a folder does not. */
function copyFolder(from: string, to: string): void {
  const done = spawnSync('cp', ['-a', `${from}/.`, to], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`a database folder could not be copied: ${done.stderr}`);
}
