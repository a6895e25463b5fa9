/** The only reader of the environment: read once, whole; one start reports every mistake together. */
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import type { CollectSettings } from './collect/serve-collect.ts';
import type { ControlSettings } from './control/control-settings.ts';
import type { DeliverSettings } from './deliver/start-deliver.ts';
import { DEMO_KEY, DEMO_TOKEN } from './secrets/demo-secrets.ts';
import { readKeys } from './secrets/seal.ts';
import { type Networks, readNetworks } from './http/address-policy.ts';
import type { MetricsSettings } from './metrics/serve-metrics.ts';
import { readHostCap, readHostProof, readLimits } from './limit-settings.ts';
import { readMailSettings } from './mail-settings.ts';
import { type CellSettings, type NatsSettings, readCells, readNatsSettings } from './nats-settings.ts';
import { readChild, readChildFlags, readProcesses } from './process-settings.ts';
import type { ChildPlan } from './processes/start-child.ts';
import { readSecretsDir } from './read-secrets-dir.ts';
import { type Environment, listOf, type Name, type Reader, reader } from './read-setting.ts';
import { type ShownSetting, showSettings } from './show-settings.ts';
import { MOST_EVENT_STREAMS, type StreamSettings } from './stream/layout/layout.ts';

export const ROLES = ['collect', 'deliver', 'control', 'compute'] as const;
export type Role = (typeof ROLES)[number];

export type Config = NatsSettings &
  CellSettings & {
    roles: Role[];
    processes: number;
    /** Flags of Node that a supervisor adds for its children. */
    childFlags: string[];
    /** Set in a process that a supervisor has started: its number, and the roles that it plays. */
    child: ChildPlan | undefined;
    logLevel: string;
    /** Whether spans are made, for an OpenTelemetry SDK that `node --import` has loaded. */
    isTraced: boolean;
    stream: StreamSettings;
    collect: CollectSettings;
    deliver: DeliverSettings;
    control: ControlSettings;
    metrics: MetricsSettings;
    /** Every setting as it may be shown. */
    shown: ShownSetting[];
  };

export type ConfigRead = { ok: true; value: Config } | { ok: false; problems: string[] };

/** `extra` stands in for what the environment leaves out, before the defaults do. */
export function readConfig(env: Environment = process.env, extra: Environment = {}): ConfigRead {
  const problems: string[] = [];
  const files = readSecretsDir(env, problems);
  const read = reader({ ...extra, ...files, ...env }, problems, extra['MILLRACE_BOOTSTRAP_TOKEN'] === DEMO_TOKEN);
  const nats = readNatsSettings(read);
  const processes = readProcesses(read);
  const value: Config = {
    roles: readRoles(read),
    processes,
    childFlags: readChildFlags(env, processes),
    child: readChild(env),
    ...nats,
    ...readCells(read, nats.natsUrl, readRoles(read)),
    logLevel: readLogLevel(read),
    // The SDK's own setting, so that one says both where spans go and that there are any.
    isTraced: (env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '') !== '',
    stream: {
      replicas: readReplicas(read),
      eventStreams: read.number('MILLRACE_EVENT_STREAMS', 1, MOST_EVENT_STREAMS),
      laneStreams: read.number('MILLRACE_LANE_STREAMS', 1, 64),
      outcomeStreams: read.number('MILLRACE_OUTCOME_STREAMS', 1, 64),
      retentionMs: read.duration('MILLRACE_RETENTION'),
      dedupWindowMs: read.duration('MILLRACE_DEDUP_WINDOW'),
    },
    collect: readCollect(read),
    deliver: readDeliver(read),
    control: readControl(read),
    metrics: { host: hostOf(read, 'MILLRACE_METRICS_HOST'), port: read.number('MILLRACE_METRICS_PORT', 0, 65_535) },
    shown: showSettings(read.text),
  };
  if (value.stream.retentionMs > 0 && value.stream.dedupWindowMs > value.stream.retentionMs) {
    read.problem('MILLRACE_DEDUP_WINDOW', 'must not be longer than MILLRACE_RETENTION');
  }
  return problems.length === 0 ? { ok: true, value } : { ok: false, problems };
}

function readCollect(read: Reader): CollectSettings {
  const perSecond = read.number('MILLRACE_SOURCE_CALLS_PER_SECOND', 1, 10_000_000);
  return {
    host: hostOf(read, 'MILLRACE_COLLECT_HOST'),
    port: read.number('MILLRACE_COLLECT_PORT', 0, 65_535),
    maxConnections: read.number('MILLRACE_MAX_CONNECTIONS', 1, 1_000_000),
    maxHeldBytes: read.number('MILLRACE_MAX_HELD_BYTES', 1_000_000, 100_000_000_000),
    drainMs: read.number('MILLRACE_DRAIN_MS', 0, 600_000),
    defaultRate: { perSecond, burst: perSecond * 2 },
    workspaceCallsPerSecond: readLimits(read).callsPerSecond,
    refusalsPerSecond: read.number('MILLRACE_ADDRESS_REFUSALS_PER_SECOND', 0, 1_000_000),
    trustedProxies: readCidrs(read, 'MILLRACE_TRUSTED_PROXIES'),
    publicUrl: readPublicUrl(read),
  };
}

function readControl(read: Reader): ControlSettings {
  const databaseUrl = readDatabaseUrl(read, 'MILLRACE_DATABASE_URL');
  const bootstrapToken = read.text('MILLRACE_BOOTSTRAP_TOKEN');
  if (bootstrapToken !== '' && !/^[\x21-\x7e]{32,500}$/.test(bootstrapToken)) {
    read.problem('MILLRACE_BOOTSTRAP_TOKEN', 'must be at least 32 visible characters: `openssl rand -hex 32`');
  }
  if (bootstrapToken === DEMO_TOKEN && !read.isDemo) {
    read.problem('MILLRACE_BOOTSTRAP_TOKEN', 'is the token of the demo, which everybody knows: `openssl rand -hex 32`');
  }
  return {
    host: hostOf(read, 'MILLRACE_CONTROL_HOST'),
    port: read.number('MILLRACE_CONTROL_PORT', 0, 65_535),
    consoleDir: readConsoleDir(read),
    maxConnections: read.number('MILLRACE_MAX_CONNECTIONS', 1, 1_000_000),
    trustedProxies: readCidrs(read, 'MILLRACE_TRUSTED_PROXIES'),
    databaseUrl,
    migrationDatabaseUrl: readDatabaseUrl(read, 'MILLRACE_MIGRATION_DATABASE_URL', databaseUrl),
    bootstrapToken: bootstrapToken === '' ? undefined : bootstrapToken,
    workspaceCreation: readWorkspaceCreation(read),
    limits: readLimits(read),
    hostProof: readHostProof(read),
    workspaceGraceMs: read.duration('MILLRACE_WORKSPACE_GRACE'),
    ...readMailSettings(read),
    keys: readKeyRing(read),
    networks: readWebhookNetworks(read),
    record: {
      recordRetentionMs: read.duration('MILLRACE_RECORD_RETENTION'),
      counterRetentionMs: read.duration('MILLRACE_COUNTER_RETENTION'),
      sample: readShare(read, 'MILLRACE_RECORD_SAMPLE'),
      rows: readShare(read, 'MILLRACE_RECORD_ROWS'),
      exportRetentionMs: read.duration('MILLRACE_EXPORT_RETENTION'),
    },
  };
}

function readWorkspaceCreation(read: Reader): 'everyone' | 'operator' {
  const text = read.text('MILLRACE_CREATE_WORKSPACES');
  if (text === 'everyone' || text === 'operator') return text;
  read.problem('MILLRACE_CREATE_WORKSPACES', 'must be operator or everyone');
  return 'operator';
}

/** Control serves the page of this directory to every browser, so a wrong one must not pass as a console that is not built. */
function readConsoleDir(read: Reader): string | undefined {
  const dir = read.text('MILLRACE_CONSOLE_DIR');
  if (dir === '') return undefined;
  if (!existsSync(join(dir, 'index.html')))
    read.problem('MILLRACE_CONSOLE_DIR', 'must be a directory with an index.html');
  return resolve(dir);
}

function readShare(read: Reader, name: Name): number {
  const share = Number(read.text(name));
  if (read.text(name) === '' || !(share >= 0 && share <= 1)) read.problem(name, 'must be a number from 0 to 1');
  return share;
}

function readDeliver(read: Reader): DeliverSettings {
  return {
    keys: readKeyRing(read),
    networks: readWebhookNetworks(read),
    retryScale: read.number('MILLRACE_RETRY_SCALE', 1, 100_000),
    maxInFlight: read.number('MILLRACE_MAX_IN_FLIGHT', 1, 100_000),
    limits: readLimits(read),
    hostCap: readHostCap(read),
  };
}

/** Control (saving a URL) and deliver (connecting to it) use the same networks. */
function readWebhookNetworks(read: Reader): Networks {
  const cidrs = (name: Name) => readCidrs(read, name).join(',');
  return readNetworks(cidrs('MILLRACE_ALLOW_CIDRS'), cidrs('MILLRACE_DENY_CIDRS'));
}

function readDatabaseUrl(read: Reader, name: Name, otherwise?: string): string {
  const url = read.text(name);
  if (url === '' && otherwise !== undefined) return otherwise;
  if (!/^postgres(ql)?:\/\//.test(url)) read.problem(name, 'must begin with postgres://');
  return url;
}

/** Control seals secrets and deliver opens them; collect and compute run without keys. */
function readKeyRing(read: Reader): Map<number, Buffer> {
  const text = read.text('MILLRACE_KEYS');
  const isNeeded = readRoles(read).some((role) => role === 'control' || role === 'deliver');
  if (isNeeded && text === '') {
    const how = 'must be set for control and deliver, the same for both: `echo "1:$(openssl rand -base64 32)"`, once';
    read.problem('MILLRACE_KEYS', how);
  }
  try {
    const keys = readKeys(text);
    if (!read.isDemo && keys.values().some((key) => key.equals(DEMO_KEY))) {
      read.problem('MILLRACE_KEYS', 'holds the key of the demo, which everybody knows: `openssl rand -base64 32`');
    }
    return keys;
  } catch (error) {
    read.problem('MILLRACE_KEYS', `is not a key ring: ${error instanceof Error ? error.message : String(error)}`);
    return new Map();
  }
}

/** Each listener can have an address of its own; without one it has the common one. */
function hostOf(read: Reader, name: Name): string {
  return read.text(name) || read.text('MILLRACE_HOST');
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

function readLogLevel(read: Reader): string {
  const level = read.text('MILLRACE_LOG_LEVEL');
  if (!LOG_LEVELS.includes(level)) read.problem('MILLRACE_LOG_LEVEL', `must be one of ${LOG_LEVELS.join(', ')}`);
  return level;
}

function readRoles(read: Reader): Role[] {
  const names = listOf(read.text('MILLRACE_ROLES'));
  const roles = ROLES.filter((role) => names.includes(role));
  if (roles.length === 0 || roles.length !== names.length) {
    read.problem('MILLRACE_ROLES', `must be one or more of ${ROLES.join(', ')}, separated by commas`);
  }
  return roles;
}

function readReplicas(read: Reader): 1 | 3 {
  const replicas = read.text('MILLRACE_REPLICAS');
  if (replicas !== '1' && replicas !== '3') read.problem('MILLRACE_REPLICAS', 'must be 1 (development) or 3');
  return replicas === '3' ? 3 : 1;
}

function readCidrs(read: Reader, name: Name): string[] {
  const cidrs = listOf(read.text(name));
  if (cidrs.every(isCidr)) return cidrs;
  read.problem(name, 'must be CIDR ranges, such as 10.0.0.0/8');
  return [];
}

function isCidr(text: string): boolean {
  const [network = '', bits = ''] = text.split('/');
  const family = isIP(network);
  return family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

function readPublicUrl(read: Reader): CollectSettings['publicUrl'] {
  const text = read.text('MILLRACE_COLLECT_URL');
  if (text === '') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    read.problem('MILLRACE_COLLECT_URL', 'must be a full address, such as https://events.example.com');
    return undefined;
  }
  return { protocol: url.protocol === 'https:' ? 'https' : 'http', host: url.host + url.pathname.replace(/\/$/, '') };
}
