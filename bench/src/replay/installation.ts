import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, startNatsCluster, startPostgresServer } from '@millrace/engines';
import { serverProcess } from '../../../faults/src/server-process.ts';
import { openLog } from '../../../server/src/log.ts';
import { overHttp, stackSettings } from '../../../server/testing/stack.ts';
import { openInspector } from '../../../server/testing/inspector.ts';

export type Installation = Awaited<ReturnType<typeof openInstallation>>;

/** As people run it: control in a process of its own, collect and deliver in another, over engines of their own. */
export async function openInstallation() {
  await using opening = new AsyncDisposableStack();
  const dir = mkdtempSync(join(tmpdir(), 'millrace-replay-'));
  opening.defer(() => rmSync(dir, { recursive: true, force: true }));
  const nats = opening.use(await startNatsCluster({ maxFileStoreMb: 20_480 }));
  const postgres = opening.use(await startPostgresServer());
  const [controlPort = 0] = await freePorts(1);
  const settings = { ...stackSettings(nats.url, postgres), MILLRACE_CONTROL_PORT: String(controlPort) };
  const start = async (roles: string) => {
    const process = await serverProcess({ ...settings, MILLRACE_ROLES: roles }, join(dir, `${roles}.log`));
    opening.use(process);
    await process.start();
    return process;
  };
  const control = await start('control');
  const server = await start('collect,deliver');
  const inspector = opening.use(await openInspector(nats.url, openLog({ level: 'fatal', pretty: false })));
  const urls = { controlUrl: () => `http://127.0.0.1:${controlPort}`, collectUrl: () => server.url };
  const pids = { control: control.pid(), server: server.pid(), nats: nats.nodes[0]?.pid() };
  const open = opening.move();
  return {
    ...overHttp(urls),
    deadLetterCount: inspector.deadLetterCount,
    pids,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** `npm run bench` keeps to one core, and so would all that we start; here each process shall run where there is room. */
export function useAllCores(): void {
  const all = `0-${Math.max(cpus().length, availableParallelism()) - 1}`;
  execFileSync('taskset', ['-a', '-c', '-p', all, String(process.pid)], { stdio: 'ignore' });
}
