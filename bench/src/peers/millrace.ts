import { natsServerBinary } from '@millrace/engines';
import type { Settings } from '../../../faults/src/server-process.ts';
import { addScene, overHttp } from '../../../server/testing/stack.ts';
import { until } from '../../../server/testing/until.ts';
import { postmasterOf } from '../sizing/installation.ts';
import { startProcesses } from '../start-processes.ts';
import { output } from './child.ts';
import { engineText } from './peer-engines.ts';
import { type Endpoint, indexes, kindOf, type RunningSystem, type System } from './system.ts';

/** All roles in one process, one NATS server that syncs every write, PostgreSQL with its default durability. */
export function millrace(slots: number): System {
  const settings = {
    MILLRACE_MAX_IN_FLIGHT: String(slots),
    // All receivers are one host here.
    MILLRACE_HOST_ATTEMPTS: '0',
    MILLRACE_HOST_ATTEMPTS_PER_SECOND: '0',
  };
  return {
    name: 'Millrace',
    slots,
    missing: undefined,
    about: () => [
      `commit ${commit()}, Node ${process.version}, ${engineText(natsServerBinary())}`,
      ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
    ],
    open: (urlOf) => openMillrace(settings, (index) => urlOf(index, kindOf(index))),
  };
}

async function openMillrace(settings: Settings, urlOf: (index: number) => string): Promise<RunningSystem> {
  await using opening = new AsyncDisposableStack();
  const started = opening.use(
    await startProcesses(['collect,deliver,control'], settings, { postgresOptions: '-c fsync=on' }),
  );
  const { nats, postgres, processes, controlUrl } = started;
  const [server] = processes;
  const [node] = nats.nodes;
  const stack = overHttp({ controlUrl, collectUrl: () => server?.url ?? '' });
  await until(async () => (await stack.ask('GET', '/sources').catch(() => undefined))?.status === 200);
  const endpoints: Endpoint[] = [];
  for (const index of indexes()) {
    const { writeKey } = await addScene(stack, urlOf(index));
    endpoints.push(endpointOf(index, `${server?.url}/v1`, writeKey));
  }
  const open = opening.move();
  return {
    endpoints,
    pids: () => [server?.pid() ?? 0, node?.pid() ?? 0, postmasterOf(postgres)],
    queue: { name: 'NATS', kill: async () => node?.kill('SIGKILL'), start: async () => node?.start() },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function endpointOf(index: number, url: string, writeKey: string): Endpoint {
  const headers = { Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` };
  return {
    kind: kindOf(index),
    one: (event) => ({ url: `${url}/track`, headers, body: event }),
    batch: (events) => ({ url: `${url}/batch`, headers, body: `{"batch":[${events.join(',')}]}` }),
  };
}

function commit(): string {
  try {
    return output('git', ['describe', '--always', '--dirty'], {}, import.meta.dirname);
  } catch {
    return 'unknown';
  }
}
