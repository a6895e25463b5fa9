/** Every role in one process over engines of its own, asked over HTTP as people would. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startNatsCluster, startPostgresServer } from '@millrace/engines';
import { readConfig } from './config.ts';
import { openLog } from './log.ts';
import { startRoles } from './start-roles.ts';
import { openInspector } from './stream/inspect-for-tests.ts';

const TOKEN = 'a-bootstrap-token-of-more-than-32-characters';

export type Json = Record<string, unknown>;
export type StackAnswer<T> = { status: number; body: T };

export async function openStack(change: Record<string, string> = {}) {
  await using opening = new AsyncDisposableStack();
  const log = openLog({ level: 'fatal', pretty: false });
  const nats = opening.use(await startNatsCluster({ nodes: 1 }));
  const postgres = opening.use(await startPostgresServer());
  const read = readConfig({ ...settings(nats.url, postgres.url), ...change });
  if (!read.ok) throw new Error(read.problems.join(', '));
  const config = read.value;
  const roles = { current: await startRoles(config, log) };
  opening.defer(() => roles.current[Symbol.asyncDispose]());
  const inspector = opening.use(await openInspector(nats.url, log));
  const ask = asker(() => `http://127.0.0.1:${roles.current.control?.port}/api/v1`);
  const open = opening.move();
  return {
    ...inspector,
    postgres,
    natsUrl: nats.url,
    ask,
    /** Fails unless the answer is a success. */
    async get<T = Json>(method: string, path: string, body?: object): Promise<T> {
      const answer = await ask<T>(method, path, body);
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    /** One request with these calls; resolves with the status. */
    async send(writeKey: string, calls: object[]): Promise<number> {
      const headers = { Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` };
      const url = `http://127.0.0.1:${roles.current.collectPort}/v1/batch`;
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ batch: calls }) });
      await answer.arrayBuffer();
      return answer.status;
    },
    /** The process stops and another one starts. */
    async restart(): Promise<void> {
      await roles.current[Symbol.asyncDispose]();
      roles.current = await startRoles(config, log);
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function asker(base: () => string) {
  return async <T = Json>(method: string, path: string, body?: object): Promise<StackAnswer<T>> => {
    const headers = { Authorization: `Bearer ${TOKEN}`, ...(body && { 'Content-Type': 'application/json' }) };
    const answer = await fetch(`${base()}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await answer.text();
    return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as T };
  };
}

function settings(natsUrl: string, databaseUrl: string): Record<string, string> {
  return {
    MILLRACE_HOST: '127.0.0.1',
    MILLRACE_NATS_URL: natsUrl,
    MILLRACE_COLLECT_PORT: '0',
    MILLRACE_CONTROL_PORT: '0',
    MILLRACE_DRAIN_MS: '0',
    MILLRACE_LANE_STREAMS: '1',
    MILLRACE_DATABASE_URL: databaseUrl,
    MILLRACE_KEYS: `1:${Buffer.alloc(32, 1).toString('base64')}`,
    MILLRACE_BOOTSTRAP_TOKEN: TOKEN,
    MILLRACE_ALLOW_CIDRS: '127.0.0.0/8',
  };
}

export type Stack = Awaited<ReturnType<typeof openStack>>;
export type Scene = { sourceId: string; destinationId: string; writeKey: string };

/** A source with one webhook behind it, as soon as calls to it are accepted and routed. */
export async function addScene(stack: Stack, url: string, settings: object = {}): Promise<Scene> {
  type Source = { id: string; writeKeys: { key: string }[] };
  const source = await stack.get<Source>('POST', '/sources', { name: 'Shop' });
  const destinationId = await addDestination(stack, source.id, { targets: [{ url }], ...settings });
  const writeKey = source.writeKeys[0]?.key ?? '';
  await until(async () => (await stack.send(writeKey, [])) === 400, 5_000);
  // Collect has heard of the source, which was told before the destination: a moment later all have heard of both.
  await sleep(300);
  return { sourceId: source.id, destinationId, writeKey };
}

export async function addDestination(stack: Stack, sourceId: string, settings: object): Promise<string> {
  const made = await stack.get('POST', '/destinations', { sourceId, catalog: 'Webhooks', enabled: true, settings });
  return String(made['id']);
}

export async function until(isTrue: () => boolean | Promise<boolean>, patienceMs = 15_000): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while (!(await isTrue())) {
    if (performance.now() > giveUpAt) throw new Error(`not within ${patienceMs} ms: ${isTrue.toString()}`);
    await sleep(20);
  }
}

export type Job = {
  id: string;
  state: string;
  problem: string | null;
  progress: { done: number; total: number | null; skipped: Record<string, number> };
};

/** Waits for the end of a job. */
export async function ended(stack: Stack, path: string, patienceMs = 20_000): Promise<Job> {
  let job: Job | undefined;
  await until(async () => {
    job = await stack.get<Job>('GET', path);
    return job.state !== 'running';
  }, patienceMs);
  if (job === undefined) throw new Error('no job');
  return job;
}

export function track(event: string, change: object = {}): object {
  return { type: 'track', messageId: `m-${event}`, userId: 'u1', event, properties: { n: 1 }, ...change };
}

export function tracks(count: number, change: object = {}): object[] {
  return Array.from({ length: count }, (_, index) => track(`e${index}`, change));
}
