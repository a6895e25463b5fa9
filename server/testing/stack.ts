/** Every role in one process over engines of its own, asked over HTTP as people would. */
import { randomUUID } from 'node:crypto';
import { type PostgresServer, startNatsCluster } from '@millrace/engines';
import { startMigratedPostgres } from './migrated-postgres.ts';
import { type Config, readConfig } from '../src/config.ts';
import { openLog } from '../src/log.ts';
import { type Running, startRoles } from '../src/start-roles.ts';
import type { RequestToAppend } from '../src/stream/events/append-request.ts';
import type { ConfigView } from '../src/stream/config/config-bucket.ts';
import { openInspector } from './inspector.ts';
import { until } from './until.ts';

const TOKEN = 'a-bootstrap-token-of-more-than-32-characters';

export type Json = Record<string, unknown>;
export type StackAnswer<T> = { status: number; body: T };

/** `deliver` may be what no operator is allowed to set: with a `retryScale` below 1, what failed waits longer than a test runs. */
export async function openStack(
  change: Record<string, string> = {},
  deliver: Partial<Config['deliver']> = {},
  control: Partial<Config['control']> = {},
) {
  await using opening = new AsyncDisposableStack();
  const log = openLog({ level: 'fatal', pretty: false });
  const nats = opening.use(await startNatsCluster({ nodes: 1 }));
  const postgres = opening.use(await startMigratedPostgres());
  const config = readStackConfig({ ...stackSettings(nats.url, postgres), ...change }, { deliver, control });
  const roles = { current: await startRoles(config, log) };
  opening.defer(() => roles.current[Symbol.asyncDispose]());
  const inspector = opening.use(await openInspector(nats.adminUrl, log));
  const controlUrl = () => `http://127.0.0.1:${roles.current.control?.port}`;
  const collectUrl = () => `http://127.0.0.1:${roles.current.collectPort}`;
  const open = opening.move();
  return {
    ...inspector,
    ...overHttp({ controlUrl, collectUrl }),
    /** The same for the holder of another token. */
    as: (token: string) => ({ ...overHttp({ controlUrl, collectUrl, token }), view: () => viewOf(roles.current) }),
    postgres,
    nats,
    natsUrl: nats.url,
    controlUrl: () => `${controlUrl()}/api/v1`,
    collectUrl,
    view: () => viewOf(roles.current),
    store: () => controlOf(roles.current).store,
    /** Stores one call past collect. */
    append: (sourceId: string, call: object) => append(roles.current, sourceId, call),
    appendRequest: (request: RequestToAppend) => roles.current.stream.append(request),
    /** A query as the system user, which sees every workspace. */
    sql: <Row extends object>(text: string, values: unknown[] = []) =>
      system(roles.current, text, values) as Promise<Row[]>,
    /** The process stops and another one starts. */
    async restart(): Promise<void> {
      await roles.current[Symbol.asyncDispose]();
      roles.current = await startRoles(config, log);
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

type Past = { deliver: Partial<Config['deliver']>; control: Partial<Config['control']> };

/** With parts that no environment can have. */
function readStackConfig(env: Record<string, string>, { deliver, control }: Past): Config {
  const read = readConfig(env);
  if (!read.ok) throw new Error(read.problems.join(', '));
  const { value } = read;
  return { ...value, deliver: { ...value.deliver, ...deliver }, control: { ...value.control, ...control } };
}

type Urls = { controlUrl(): string; collectUrl(): string; token?: string };

/** Both APIs as people use them, with the owner's token. */
export function overHttp({ controlUrl, collectUrl, token = TOKEN }: Urls) {
  const ask = async <T = Json>(method: string, path: string, body?: object): Promise<StackAnswer<T>> => {
    const headers = { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) };
    const url = `${controlUrl()}/api/v1${path}`;
    const answer = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await answer.text();
    return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as T };
  };
  const sendBody = async (writeKey: string, body: object): Promise<number> => {
    const headers = { Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` };
    const answer = await fetch(`${collectUrl()}/v1/batch`, { method: 'POST', headers, body: JSON.stringify(body) });
    await answer.arrayBuffer();
    return answer.status;
  };
  return {
    ask,
    /** Fails unless the answer is a success. */
    async get<T = Json>(method: string, path: string, body?: object): Promise<T> {
      const answer = await ask<T>(method, path, body);
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    /** One request with these calls; resolves with the status. */
    send: (writeKey: string, calls: object[]) => sendBody(writeKey, { batch: calls }),
    sendBody,
  };
}

async function append({ stream }: Running, sourceId: string, call: object): Promise<void> {
  const id = randomUUID().replaceAll('-', '');
  const envelope = { shape: 'batch', receivedAt: new Date().toISOString(), requestId: id, calls: 1 };
  const body = Buffer.from(JSON.stringify({ batch: [call] }));
  const request = { sourceId, id, home: 0, envelope: JSON.stringify(envelope), trace: undefined, body };
  const appended = await stream.append(request);
  if (!appended.ok) throw new Error(appended.why);
}

/** The configuration as collect and deliver see it. */
function viewOf({ view }: Running): ConfigView {
  if (view === undefined) throw new Error('there is no collect and no deliver here');
  return view;
}

function controlOf({ control }: Running): NonNullable<Running['control']> {
  if (control === undefined) throw new Error('there is no control here');
  return control;
}

function system(running: Running, text: string, values: unknown[]): Promise<object[]> {
  const control = controlOf(running);
  const asked = control.store.asSystem((tx) => tx.query(text, values));
  return asked.finally(control.changed);
}

/** For one process with all roles, or for each of several. */
export function stackSettings(
  natsUrl: string,
  { url, serviceUrl }: Pick<PostgresServer, 'url' | 'serviceUrl'>,
): Record<string, string> {
  return {
    MILLRACE_HOST: '127.0.0.1',
    MILLRACE_PROCESSES: '1',
    MILLRACE_NATS_URL: natsUrl,
    MILLRACE_COLLECT_PORT: '0',
    MILLRACE_CONTROL_PORT: '0',
    MILLRACE_DRAIN_MS: '0',
    MILLRACE_LANE_STREAMS: '1',
    MILLRACE_DATABASE_URL: serviceUrl,
    MILLRACE_MIGRATION_DATABASE_URL: url,
    MILLRACE_KEYS: `1:${Buffer.alloc(32, 1).toString('base64')}`,
    MILLRACE_BOOTSTRAP_TOKEN: TOKEN,
    MILLRACE_ALLOW_CIDRS: '127.0.0.0/8',
  };
}

export type Stack = Awaited<ReturnType<typeof openStack>>;
export type Asked = ReturnType<typeof overHttp>;
/** The configuration as collect and deliver see it, where they run in the process of the test. */
export type PerhapsSeen = { view?: Stack['view'] };
export type Scene = { sourceId: string; destinationId: string; writeKey: string };

/** A source with one webhook behind it, as soon as calls to it are accepted and routed. */
export async function addScene(stack: Asked & PerhapsSeen, url: string, settings: object = {}): Promise<Scene> {
  type Source = { id: string; writeKeys: { key: string }[] };
  const source = await stack.get<Source>('POST', '/sources', { name: 'Shop' });
  const destinationId = await addDestination(stack, source.id, { targets: [{ url }], ...settings });
  const writeKey = source.writeKeys[0]?.key ?? '';
  await until(async () => (await stack.send(writeKey, [])) === 400);
  if (stack.view !== undefined) await until(() => stack.view?.().destination(destinationId) !== undefined);
  else {
    // Collect and deliver of one process read one view, in the order of the writes: a key that is younger than the destination.
    const { key } = await stack.get<{ key: string }>('POST', `/sources/${source.id}/write-keys`, { label: 'Later' });
    await until(async () => (await stack.send(key, [])) === 400);
  }
  return { sourceId: source.id, destinationId, writeKey };
}

export async function addDestination(stack: Asked, sourceId: string, settings: object): Promise<string> {
  const made = await stack.get('POST', '/destinations', { sourceId, catalog: 'Webhooks', enabled: true, settings });
  return String(made['id']);
}

/** Waits until collect and deliver drop the calls of a user: receivers may be told of the deletion before. */
export async function suppressionHeard({ view }: Pick<Stack, 'view'>, sourceId: string, userId: string): Promise<void> {
  await until(() => view().userMark(sourceId, userId)?.isSuppressed === true);
}

export type Job = {
  id: string;
  state: string;
  problem: string | null;
  progress: { done: number; total: number | null; skipped: Record<string, number> };
};

/** Waits for the end of a job. */
export async function ended(stack: Asked, path: string, patienceMs = 20_000): Promise<Job> {
  let job: Job | undefined;
  await until(async () => {
    job = await stack.get<Job>('GET', path);
    return job.state !== 'running';
  }, patienceMs);
  if (job === undefined) throw new Error('no job');
  return job;
}

/** This month, and the one in which a test began when midnight came meanwhile: the calls of the test are in both then. */
export function monthsSince(startedAt: Date): string[] {
  return [...new Set([startedAt, new Date()].map((at) => at.toISOString().slice(0, 7)))];
}
