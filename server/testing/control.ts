/** For tests of the control API: a server of its own on a real database, and users and tokens to ask with. */
import { readNetworks } from '../src/http/address-policy.ts';
import { CATALOG, LIMIT_NAMES } from '@millrace/contract/control';
import { startNatsCluster, type PostgresServer } from '@millrace/engines';
import { startMigratedPostgres } from './migrated-postgres.ts';
import { openLog } from '../src/log.ts';
import { insertMember } from '../src/store/members.ts';
import { openStore, type Store } from '../src/store/open-store.ts';
import { insertToken } from '../src/store/tokens.ts';
import { insertUser } from '../src/store/users.ts';
import { insertWorkspace } from '../src/store/workspaces.ts';
import type { LaneHealth } from '../src/domain/lane-health.ts';
import type { ControlSide } from '../src/stream/open-control-side.ts';
import { openStream, type Stream } from '../src/stream/open-stream.ts';
import { LIMITS, type LimitValues } from '../src/limits/limits.ts';
import { openWorkspaceLimits } from '../src/control/limits/workspace-limits.ts';
import { openConfigLimits } from '../src/control/settings/config-limits.ts';
import type { ControlNeeds } from '../src/control/http/control-needs.ts';
import { newId } from '../src/store/new-id.ts';
import type { RoleName } from '../src/control/access/permissions.ts';
import { openKeyRing } from '../src/secrets/seal.ts';
import { hashOfSecret, makeSecret } from '../src/control/access/secret-text.ts';
import { serveControl } from '../src/control/serve-control.ts';
import { STREAM_SETTINGS } from './stream-settings.ts';

/** A stand-in for the engine with nothing but a clock: for tests that never ask it anything. */
export const NO_ENGINE = { now: Date.now } as ControlSide;

/** The needs of control as stand-ins, for tests that do not use them. */
export const QUIET_NEEDS = {
  side: NO_ENGINE,
  catalog: CATALOG,
  networks: readNetworks(''),
  changed: () => undefined,
  laneOf: () => undefined,
};

export type TestControl = AsyncDisposable & {
  url: string;
  store: Store;
  stream: Stream;
  natsUrl: string;
  needs: ControlNeeds;
  postgres: PostgresServer;
  /** How often a commit was announced. */
  changes(): number;
  /** The lanes that the health bucket would hold. */
  lanes: Map<string, LaneHealth>;
  ask(method: string, path: string, options?: AskOptions): Promise<TestAnswer>;
};

export type AskOptions = { token?: string; body?: unknown; headers?: Record<string, string> };
export type TestAnswer = { status: number; headers: Headers; text: string; body: Record<string, unknown> };

const SETTINGS = { ...STREAM_SETTINGS, eventStreams: 2 };
const HTTP_SETTINGS = { host: '127.0.0.1', port: 0, maxConnections: 1_000 };

/** Without rates: a test asks as fast as it can. */
const LIMIT_DEFAULTS = Object.fromEntries(
  LIMIT_NAMES.map((name) => [name, LIMITS[name].kind === 'count' ? LIMITS[name].default : undefined]),
) as LimitValues;

export type TestOptions = {
  /** A small file store makes a small config bucket: a hundredth of it. */
  maxFileStoreMb?: number;
  /** With it, links go out by mail; nothing sends the mails by itself. */
  mail?: NonNullable<ControlNeeds['mail']>;
  /** The test itself plays them: a request comes from the address in `X-Forwarded-For`. */
  trustedProxies?: string[];
  workspaceCreation?: NonNullable<ControlNeeds['workspaceCreation']>;
  /** With it, there are passkeys. */
  consoleUrl?: string;
  now?: () => Date;
  /** With it, there is single sign-on. */
  singleSignOn?: NonNullable<ControlNeeds['singleSignOn']>;
  /** As MILLRACE_ALLOW_CIDRS. */
  allowed?: string;
  /** Other than those that an operator gets without settings. */
  limits?: Partial<LimitValues>;
};

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export async function startTestControl(given: TestOptions = {}): Promise<TestControl> {
  const { mail, singleSignOn, allowed = '', trustedProxies = [], workspaceCreation = 'operator', ...others } = given;
  const { consoleUrl, now = () => new Date(), limits = {}, ...options } = others;
  await using starting = new AsyncDisposableStack();
  const postgres = starting.use(await startMigratedPostgres());
  const store = starting.use(await openStore(postgres.serviceUrl));
  const nats = starting.use(await startNatsCluster({ nodes: 1, ...options }));
  const log = openLog({ level: 'fatal', pretty: false });
  const stream = starting.use(await openStream({ natsUrl: nats.url, settings: SETTINGS, log }));
  const configWriter = await stream.configWriter();
  let changes = 0;
  const lanes = new Map<string, LaneHealth>();
  const needs = {
    store,
    side: starting.use(await stream.controlSide()),
    keyRing: openKeyRing(new Map([[1, Buffer.alloc(32, 7)]])),
    catalog: CATALOG,
    networks: readNetworks(allowed),
    limits: starting.use(openWorkspaceLimits({ store, defaults: { ...LIMIT_DEFAULTS, ...limits }, log })),
    configLimits: openConfigLimits({ store, configRoom: configWriter.room, log }),
    changed: () => void (changes += 1),
    laneOf: (id: string) => lanes.get(id),
    lanes: lanesIn(lanes),
    now,
    log,
    workspaceCreation,
    consoleUrl,
    ...(mail === undefined ? {} : { mail }),
    ...(singleSignOn === undefined ? {} : { singleSignOn }),
  };
  const { port } = starting.use(await serveControl({ ...HTTP_SETTINGS, trustedProxies }, needs));
  const url = `http://127.0.0.1:${port}`;
  const running = starting.move();
  return {
    url,
    store,
    stream,
    natsUrl: nats.url,
    needs,
    postgres,
    changes: () => changes,
    lanes,
    ask: (method, path, options = {}) => ask(`${url}${path}`, method, options),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function lanesIn(lanes: ReadonlyMap<string, LaneHealth>): NonNullable<ControlNeeds['lanes']> {
  const ofWorkspace = (id: string) => [...lanes.values()].filter((lane) => lane.workspaceId === id);
  return { ofWorkspace, all: () => lanes.values() };
}

async function ask(url: string, method: string, { token, body, headers = {} }: AskOptions): Promise<TestAnswer> {
  const answer = await fetch(url, {
    method,
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = text !== '' && !(answer.headers.get('content-type') ?? '').includes('ndjson');
  return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : {} };
}

export async function addWorkspace(store: Store, name = 'Test'): Promise<string> {
  const id = newId('ws');
  await store.asSystem((tx) => insertWorkspace(tx, { id, name }));
  return id;
}

export type TokenOptions = { role: RoleName; scopes?: string[]; expiresAt?: Date };

/** The secret of a new token. */
export async function addToken(store: Store, workspaceId: string, options: TokenOptions): Promise<string> {
  const secret = makeSecret('mlr');
  const { role, scopes = null, expiresAt = null } = options;
  const token = { workspaceId, id: newId('tok'), name: role, role, scopes, hint: 'test', createdBy: 'test', expiresAt };
  await store.asSystem((tx) => insertToken(tx, { ...token, secretHash: hashOfSecret(secret) }));
  return secret;
}

export type TestUser = { email: string; passwordHash: string | null; role: RoleName };

export async function addMember(store: Store, workspaceId: string, user: TestUser): Promise<string> {
  const id = newId('usr');
  await store.asSystem(async (tx) => {
    await insertUser(tx, { id, email: user.email, name: user.email, passwordHash: user.passwordHash });
    await insertMember(tx, { workspaceId, userId: id, role: user.role });
  });
  return id;
}
