import { openLog } from '../../../server/src/log.ts';
import { overHttp } from '../../../server/testing/stack.ts';
import { openInspector } from '../../../server/testing/inspector.ts';
import { startProcesses } from '../start-processes.ts';

export type Installation = Awaited<ReturnType<typeof openInstallation>>;

/** As people run it: control in a process of its own, collect and deliver in another, over engines of their own. */
export async function openInstallation() {
  await using opening = new AsyncDisposableStack();
  const { nats, processes, controlUrl } = opening.use(await startProcesses(['control', 'collect,deliver']));
  const [control, server] = processes;
  const inspector = opening.use(await openInspector(nats.url, openLog({ level: 'fatal', pretty: false })));
  const pids = { control: control?.pid(), server: server?.pid(), nats: nats.nodes[0]?.pid() };
  const open = opening.move();
  return {
    ...overHttp({ controlUrl, collectUrl: () => server?.url ?? '' }),
    deadLetterCount: inspector.deadLetterCount,
    pids,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
