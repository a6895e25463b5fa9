import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT_DIR } from '@millrace/engines';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { BENCH_WRITE_KEY } from './load.ts';
import { openLog } from '../../../server/src/log.ts';
import { openStream } from '../../../server/src/stream/open-stream.ts';
import { STREAM_SETTINGS } from '../stream-settings.ts';

export type BenchServer = AsyncDisposable & { pid: number; storedMessages(): Promise<number> };
export type Start = (natsUrl: string, port: number) => Promise<BenchServer>;

/** Both servers share this core; everything else has the other one. */
const SERVER_CORE = '0';
const STREAMS = STREAM_SETTINGS.eventStreams;

/** The product as it is run: `server/src/main.ts`, of this version or another, in a process of its own. */
export function startCollect(main = join(ROOT_DIR, 'server/src/main.ts')): Start {
  return async (natsUrl, port) => {
    await addSource(natsUrl);
    return startServer({
      natsUrl,
      port,
      args: [main],
      streams: Array.from({ length: STREAMS }, (_, index) => `EVENTS-${index}`),
      env: {
        MILLRACE_ROLES: 'collect',
        MILLRACE_PROCESSES: '1',
        MILLRACE_HOST: '127.0.0.1',
        MILLRACE_NATS_URL: natsUrl,
        MILLRACE_COLLECT_PORT: String(port),
        MILLRACE_METRICS_PORT: '0',
        MILLRACE_EVENT_STREAMS: String(STREAMS),
        MILLRACE_SOURCE_CALLS_PER_SECOND: '10000000',
        MILLRACE_LIMIT_CALLS_PER_SECOND: '10000000',
        MILLRACE_LOG_LEVEL: 'error',
      },
    });
  };
}

export function startTwin(kind: 'mux' | 'js'): Start {
  return async (natsUrl, port) => {
    await addTwinStream(natsUrl);
    const args = [join(import.meta.dirname, 'twin.ts'), natsUrl, String(port), kind];
    return startServer({ natsUrl, port, args, streams: ['TWIN'], env: {} });
  };
}

type ServerPlan = { natsUrl: string; port: number; args: string[]; streams: string[]; env: Record<string, string> };

async function startServer({ natsUrl, port, args, streams, env }: ServerPlan): Promise<BenchServer> {
  const child = spawn('taskset', ['-c', SERVER_CORE, process.execPath, ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  });
  const exited = once(child, 'exit');
  await isListening(port);
  const nc = await connect({ servers: natsUrl });
  const manager = await jetstreamManager(nc);
  return {
    pid: child.pid ?? 0,
    async storedMessages() {
      const infos = await Promise.all(streams.map((stream) => manager.streams.info(stream)));
      return infos.reduce((sum, { state }) => sum + state.last_seq, 0);
    },
    async [Symbol.asyncDispose]() {
      await nc.close();
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function isListening(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { method: 'POST', body: '{}' }).catch(
      () => undefined,
    );
    if (answer !== undefined) return;
    await sleep(50);
  }
  throw new Error(`nothing listens on port ${port}`);
}

async function addSource(natsUrl: string): Promise<void> {
  await using stream = await openStream({
    natsUrl,
    settings: STREAM_SETTINGS,
    log: openLog({ level: 'error', pretty: false }),
  });
  const writeKeyHashes = [createHash('sha256').update(BENCH_WRITE_KEY).digest('hex')];
  const writer = await stream.configWriter();
  await writer.putSource({ id: 'src_bench', workspaceId: 'ws_bench', name: 'Bench', enabled: true, writeKeyHashes });
}

async function addTwinStream(natsUrl: string): Promise<void> {
  const nc = await connect({ servers: natsUrl });
  const manager = await jetstreamManager(nc);
  await manager.streams.add({ name: 'TWIN', subjects: ['events.0.twin'] });
  await nc.close();
}
