import { overHttp } from '../../../server/testing/stack.ts';
import { cpuUs } from '../cpu-us.ts';
import { childrenOf, endedChildrenUs, postmasterOf } from '../sizing/installation.ts';
import { startProcesses } from '../start-processes.ts';
import { until } from '../../../server/testing/until.ts';

export type Installation = Awaited<ReturnType<typeof openInstallation>>;

const SETTINGS = {
  MILLRACE_REPLICAS: '3',
  // All receivers are one host here.
  MILLRACE_HOST_ATTEMPTS: '0',
  MILLRACE_HOST_ATTEMPTS_PER_SECOND: '0',
} as const;

/** All roles by one `npm start` with this many processes, over three NATS servers. */
export async function openInstallation(count: number) {
  await using opening = new AsyncDisposableStack();
  const settings = { ...SETTINGS, MILLRACE_PROCESSES: String(count) };
  const started = opening.use(
    await startProcesses(['collect,deliver,control,compute'], settings, { nats: { nodes: 3 } }),
  );
  const { nats, postgres, processes, controlUrl } = started;
  const server = processes[0];
  const http = overHttp({ controlUrl, collectUrl: () => server?.url ?? '' });
  await until(async () => (await http.ask('GET', '/sources').catch(() => undefined))?.status === 200);
  const postmaster = postmasterOf(postgres);
  const serverPid = server?.pid() ?? 0;
  const parts: Readonly<Record<string, () => number>> = {
    node: () => sumOf([serverPid, ...childrenOf(serverPid)]),
    nats: () => sumOf(nats.nodes.map((node) => node.pid() ?? 0)),
    postgres: () => endedChildrenUs(postmaster) + sumOf([postmaster, ...childrenOf(postmaster)]),
    'senders of the bench': () => cpuUs(process.pid),
  };
  const open = opening.move();
  return {
    ...http,
    /** CPU that each part has used since it started, in microseconds. */
    cpuUs: () => Object.fromEntries(Object.entries(parts).map(([part, used]) => [part, used()])),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function sumOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + usedBy(pid), 0);
}

/** A connection of PostgreSQL may end while we look: then its parent tells. */
function usedBy(pid: number): number {
  try {
    return cpuUs(pid);
  } catch {
    return 0;
  }
}
