import { overHttp } from '../../../server/testing/stack.ts';
import { cpuUs } from '../cpu-us.ts';
import { childrenOf, postmasterOf } from '../sizing/installation.ts';
import { startProcesses } from '../start-processes.ts';
import { until } from '../../../server/testing/until.ts';

export type Installation = Awaited<ReturnType<typeof openInstallation>>;

/** All roles by one `npm start`, as a small installation runs them, with this many processes. */
export async function openInstallation(count: number) {
  await using opening = new AsyncDisposableStack();
  const settings = {
    MILLRACE_PROCESSES: String(count),
    // All receivers are one host here.
    MILLRACE_HOST_ATTEMPTS: '0',
    MILLRACE_HOST_ATTEMPTS_PER_SECOND: '0',
  };
  const started = opening.use(await startProcesses(['collect,deliver,control,compute'], settings));
  const { nats, postgres, processes, controlUrl } = started;
  const server = processes[0];
  const http = overHttp({ controlUrl, collectUrl: () => server?.url ?? '' });
  await until(async () => (await http.ask('GET', '/sources').catch(() => undefined))?.status === 200);
  const postmaster = postmasterOf(postgres);
  const pids: Record<string, number[]> = {
    ...partsOf(server?.pid() ?? 0, count),
    nats: [nats.nodes[0]?.pid() ?? 0],
    // Its connections stay open for as long as a measurement.
    postgres: [postmaster, ...childrenOf(postmaster)],
    bench: [process.pid],
  };
  const open = opening.move();
  return {
    ...http,
    /** CPU that each part has used since it started, in microseconds. */
    cpuUs: () => Object.fromEntries(Object.entries(pids).map(([part, ids]) => [part, sumOf(ids)])),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function partsOf(server: number, count: number): Record<string, number[]> {
  if (count === 1) return { 'process 1': [server] };
  const children = childrenOf(server).toSorted((one, other) => one - other);
  return {
    supervisor: [server],
    ...Object.fromEntries(children.map((pid, index) => [`process ${index + 1}`, [pid]])),
  };
}

function sumOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuUs(pid), 0);
}
