import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BodyFormat } from '@millrace/contract';
import { freePorts, ROOT_DIR, startNatsCluster } from '@millrace/engines';
import { openLog } from '../../../server/src/log.ts';
import { connectNats } from '../../../server/src/stream/nats/connect-nats.ts';
import { eventSubject } from '../../../server/src/stream/layout/layout.ts';
import { openStream, type Stream } from '../../../server/src/stream/open-stream.ts';
import { openPublisher, type Publication, type Publisher } from '../../../server/src/stream/nats/publish.ts';
import { ENVELOPE_HEADER } from '../../../server/src/stream/events/request-message.ts';
import { configure, KEY, sourceOf } from './configure.ts';
import { STREAM_SETTINGS } from '../stream-settings.ts';
import { envelopeOf, requestBodies, type Shape } from './scene.ts';
import { type Flow, sendEvenly } from './send-evenly.ts';
import type { TwinPlan } from './twin.ts';

export type Contender = { name: string; launch(): Promise<Launched> };

export type Launched = AsyncDisposable & {
  pid: number;
  natsUrl?: string;
  natsPid: number | undefined;
  /** Makes it deliver the events of these requests at a steady pace. */
  send(flow: Flow): Promise<unknown>;
};

/** `destinations` are those whose source gets the requests; `perSource` is how many each source has, one without it. */
export type Traffic = { shape: Shape; destinations: number[]; port: number; perSource?: number | undefined };

/** All contenders share this core; everything else has the other one. */
const CORE = '0';
const MAIN = join(ROOT_DIR, 'server/src/main.ts');
const STREAMS = { ...STREAM_SETTINGS, retentionMs: 3_600_000, dedupWindowMs: 60_000 };

export function twin(name: string, signatures: TwinPlan['signatures'], traffic: Traffic): Contender {
  return {
    name,
    async launch() {
      const plan: TwinPlan = { name, signatures, ...traffic };
      const child = start([join(import.meta.dirname, 'twin.ts'), JSON.stringify(plan)], {});
      const send = async (flow: Flow) => child.process.send(flow);
      return { ...child, natsPid: undefined, send };
    },
  };
}

export type Product = {
  name: string;
  configured: number;
  main?: string;
  /** `documented` without this. */
  bodyFormat?: BodyFormat;
  /** Writes another configuration than one of `configured` destinations alone. */
  fill?(stream: Stream): Promise<void>;
  maxFileStoreMb?: number;
};

/** The product as it is run, of this version or another, with a NATS server and a configuration of its own. */
export function deliver(product: Product, traffic: Traffic): Contender {
  const { name, configured, main, maxFileStoreMb = 20_000 } = product;
  const { port, perSource } = traffic;
  const settings = { contender: name, count: configured, port, perSource, bodyFormat: product.bodyFormat };
  const { fill = (stream: Stream) => configure(settings, stream) } = product;
  return {
    name,
    async launch() {
      await using opening = new AsyncDisposableStack();
      const cluster = opening.use(await startNatsCluster({ maxFileStoreMb }));
      const log = openLog({ level: 'error', pretty: false });
      const stream = opening.use(await openStream({ natsUrl: cluster.url, settings: STREAMS, log }));
      await fill(stream);
      const connection = opening.use(await connectNats({ url: cluster.url, name: 'bench', log }));
      const send = generator(opening.use(openPublisher(connection)), traffic);
      const { pid } = opening.use(await startProduct(cluster.url, 'deliver', main));
      const opened = opening.move();
      const natsPid = cluster.nodes[0]?.pid();
      return { pid, natsPid, natsUrl: cluster.url, send, [Symbol.asyncDispose]: () => opened.disposeAsync() };
    },
  };
}

export type StartedProduct = AsyncDisposable & { pid: number; readySeconds: number };

/** One process with these roles; resolves when it is ready. */
export async function startProduct(natsUrl: string, roles: string, main = MAIN): Promise<StartedProduct> {
  const [port = 0] = await freePorts(1);
  const startedAt = performance.now();
  const started = start([main], { ...environment(natsUrl), MILLRACE_ROLES: roles, MILLRACE_METRICS_PORT: `${port}` });
  while (!(await isReady(port))) {
    if (started.process.exitCode !== null) throw new Error(`the process of ${roles} has ended`);
    await sleep(20);
  }
  return { ...started, readySeconds: (performance.now() - startedAt) / 1_000 };
}

async function isReady(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.ok === true;
}

function environment(natsUrl: string): Record<string, string> {
  return {
    MILLRACE_COLLECT_PORT: '0',
    MILLRACE_PROCESSES: '1',
    MILLRACE_NATS_URL: natsUrl,
    MILLRACE_ALLOW_CIDRS: '127.0.0.0/8',
    // All receivers are one host here.
    MILLRACE_HOST_ATTEMPTS: '0',
    MILLRACE_HOST_ATTEMPTS_PER_SECOND: '0',
    MILLRACE_KEYS: `1:${KEY.toString('base64')}`,
    MILLRACE_EVENT_STREAMS: String(STREAMS.eventStreams),
    MILLRACE_LANE_STREAMS: String(STREAMS.laneStreams),
    MILLRACE_RETENTION: '1h',
    MILLRACE_DEDUP_WINDOW: '1m',
    MILLRACE_LOG_LEVEL: 'warn',
  };
}

/** Stores requests as collect does, for one destination after the other. */
function generator(publisher: Publisher, { shape, destinations }: Traffic): (flow: Flow) => Promise<unknown> {
  const bodyOf = requestBodies(shape);
  let units = 0;
  return async (flow) => {
    const stored: Promise<void>[] = [];
    await sendEvenly(flow, () => {
      const destination = destinations[units % destinations.length] ?? 0;
      units += 1;
      const id = `req-${units}`;
      const subject = eventSubject(units % STREAMS.eventStreams, sourceOf(destination));
      const headers = [[ENVELOPE_HEADER, envelopeOf(shape, id)]] as const;
      stored.push(store(publisher, { subject, id, headers, payload: bodyOf(id) }));
    });
    await Promise.all(stored);
  };
}

/** Waits as long as it takes: collect would turn to another stream, and then a request may be stored twice. */
function store(publisher: Publisher, publication: Publication): Promise<void> {
  return new Promise((resolve, reject) => {
    publisher.publish(publication, (answer) => {
      if (answer.kind === 'stored') resolve();
      else reject(new Error(`void: a request was not stored: ${answer.description}`));
    });
  });
}

type Started = AsyncDisposable & { pid: number; process: ChildProcess };

function start(args: string[], env: Record<string, string>): Started {
  const child = spawn('taskset', ['-c', CORE, process.execPath, ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
  });
  const exited = once(child, 'exit');
  const stopWithUs = () => child.kill('SIGKILL');
  process.once('exit', stopWithUs);
  return {
    pid: child.pid ?? 0,
    process: child,
    async [Symbol.asyncDispose]() {
      process.removeListener('exit', stopWithUs);
      child.kill('SIGKILL');
      await exited;
    },
  };
}
