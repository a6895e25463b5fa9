import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, startNatsCluster, startPostgresServer } from '@millrace/engines';
import { type ServerProcess, serverProcess, type Settings } from '../../faults/src/server-process.ts';
import { MAIN } from '../../server/testing/server-program.ts';
import { stackSettings } from '../../server/testing/stack.ts';

type Setup = {
  nats?: Parameters<typeof startNatsCluster>[0];
  postgresOptions?: string;
  /** The program of another version. */
  main?: string;
};

/**
 * One process for each list of roles, started in this order, over NATS (one server, unless said otherwise) and PostgreSQL of their
 * own, which does not sync unless its options say so.
 */
export async function startProcesses(
  roles: readonly string[],
  change: Settings = {},
  { nats: servers = {}, postgresOptions = '', main = MAIN }: Setup = {},
) {
  await using opening = new AsyncDisposableStack();
  const dir = mkdtempSync(join(tmpdir(), 'millrace-bench-'));
  opening.defer(() => rmSync(dir, { recursive: true, force: true }));
  const nats = opening.use(await startNatsCluster({ maxFileStoreMb: 20_480, ...servers }));
  const postgres = opening.use(await startPostgresServer({ options: postgresOptions }));
  const [controlPort = 0] = await freePorts(1);
  const settings = { ...stackSettings(nats.url, postgres), MILLRACE_CONTROL_PORT: String(controlPort), ...change };
  const processes: ServerProcess[] = [];
  for (const each of roles) {
    const process = await serverProcess({ ...settings, MILLRACE_ROLES: each }, join(dir, `${each}.log`), {
      main: () => main,
    });
    opening.use(process);
    await process.start();
    processes.push(process);
  }
  const open = opening.move();
  return {
    nats,
    postgres,
    processes,
    controlUrl: () => `http://127.0.0.1:${controlPort}`,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
