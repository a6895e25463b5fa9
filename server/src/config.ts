/** The only reader of the environment: read once, whole; one start reports every mistake together. */
import { isIP } from 'node:net';
import type { CollectSettings } from './collect/serve-collect.ts';
import type { ControlSettings } from './control/control-settings.ts';
import type { DeliverSettings } from './deliver/start-deliver.ts';
import { DEMO_KEY, DEMO_TOKEN } from './demo-secrets.ts';
import { readKeys } from './secrets/seal.ts';
import { type Networks, readNetworks } from './http/address-policy.ts';
import type { MetricsSettings } from './metrics/serve-metrics.ts';
import { type NatsSettings, readNatsSettings } from './nats-settings.ts';
import type { StreamSettings } from './stream/layout.ts';

export const ROLES = ['collect', 'deliver', 'control'] as const;
export type Role = (typeof ROLES)[number];

export type Config = NatsSettings & {
  roles: Role[];
  logLevel: string;
  /** Whether spans are made, for an OpenTelemetry SDK that `node --import` has loaded. */
  isTraced: boolean;
  stream: StreamSettings;
  collect: CollectSettings;
  deliver: DeliverSettings;
  control: ControlSettings;
  metrics: MetricsSettings;
};

export type ConfigRead = { ok: true; value: Config } | { ok: false; problems: string[] };

/** Every setting with its default; docs/operating.md lists them, and a test holds the two together. */
export const DEFAULTS = {
  MILLRACE_ROLES: 'collect,deliver,control',
  MILLRACE_NATS_URL: 'nats://127.0.0.1:4222',
  MILLRACE_NATS_CA_FILE: '',
  MILLRACE_NATS_CERT_FILE: '',
  MILLRACE_NATS_KEY_FILE: '',
  MILLRACE_NATS_NKEY_FILE: '',
  MILLRACE_NATS_CREDS_FILE: '',
  MILLRACE_HOST: '0.0.0.0',
  MILLRACE_COLLECT_HOST: '',
  MILLRACE_COLLECT_PORT: '8080',
  MILLRACE_COLLECT_URL: '',
  MILLRACE_TRUSTED_PROXIES: '',
  MILLRACE_CONTROL_HOST: '',
  MILLRACE_CONTROL_PORT: '8081',
  MILLRACE_METRICS_HOST: '',
  MILLRACE_METRICS_PORT: '9464',
  MILLRACE_DATABASE_URL: 'postgres://127.0.0.1:5432/millrace',
  MILLRACE_MIGRATION_DATABASE_URL: '',
  MILLRACE_KEYS: '',
  MILLRACE_UNSIGNED_CONFIG: 'refuse',
  MILLRACE_BOOTSTRAP_TOKEN: '',
  MILLRACE_ALLOW_CIDRS: '',
  MILLRACE_DENY_CIDRS: '',
  MILLRACE_RETRY_SCALE: '1',
  MILLRACE_MAX_IN_FLIGHT: '1000',
  MILLRACE_MAX_CONNECTIONS: '20000',
  MILLRACE_MAX_HELD_BYTES: '134217728',
  MILLRACE_SOURCE_CALLS_PER_SECOND: '50000',
  MILLRACE_ADDRESS_REFUSALS_PER_SECOND: '200',
  MILLRACE_DRAIN_MS: '1000',
  MILLRACE_REPLICAS: '1',
  MILLRACE_EVENT_STREAMS: '2',
  MILLRACE_LANE_STREAMS: '2',
  MILLRACE_RETENTION: '72h',
  MILLRACE_DEDUP_WINDOW: '10m',
  MILLRACE_RECORD_RETENTION: '7d',
  MILLRACE_COUNTER_RETENTION: '400d',
  MILLRACE_RECORD_SAMPLE: '1',
  MILLRACE_LOG_LEVEL: 'info',
} as const;

type Name = keyof typeof DEFAULTS;
type Reader = {
  /** Whether `npm run dev` asks, which is the only place where the demo's secrets are good. */
  isDemo: boolean;
  text(name: Name): string;
  number(name: Name, min: number, max: number): number;
  duration(name: Name): number;
  problem(name: Name, what: string): void;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** `extra` stands in for what the environment leaves out, before the defaults do. */
export function readConfig(env: Environment = process.env, extra: Environment = {}): ConfigRead {
  const problems: string[] = [];
  const read = reader({ ...extra, ...env }, problems, extra['MILLRACE_BOOTSTRAP_TOKEN'] === DEMO_TOKEN);
  const value: Config = {
    roles: readRoles(read),
    ...readNatsSettings(read),
    logLevel: readLogLevel(read),
    // The SDK's own setting, so that one says both where spans go and that there are any.
    isTraced: (env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '') !== '',
    stream: {
      replicas: readReplicas(read),
      eventStreams: read.number('MILLRACE_EVENT_STREAMS', 1, 64),
      laneStreams: read.number('MILLRACE_LANE_STREAMS', 1, 64),
      retentionMs: read.duration('MILLRACE_RETENTION'),
      dedupWindowMs: read.duration('MILLRACE_DEDUP_WINDOW'),
    },
    collect: readCollect(read),
    deliver: readDeliver(read),
    control: readControl(read),
    metrics: { host: hostOf(read, 'MILLRACE_METRICS_HOST'), port: read.number('MILLRACE_METRICS_PORT', 0, 65_535) },
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
    maxConnections: read.number('MILLRACE_MAX_CONNECTIONS', 1, 1_000_000),
    trustedProxies: readCidrs(read, 'MILLRACE_TRUSTED_PROXIES'),
    databaseUrl,
    migrationDatabaseUrl: readDatabaseUrl(read, 'MILLRACE_MIGRATION_DATABASE_URL', databaseUrl),
    bootstrapToken: bootstrapToken === '' ? undefined : bootstrapToken,
    keys: readKeyRing(read),
    networks: readWebhookNetworks(read),
    record: {
      recordRetentionMs: read.duration('MILLRACE_RECORD_RETENTION'),
      counterRetentionMs: read.duration('MILLRACE_COUNTER_RETENTION'),
      sample: readShare(read, 'MILLRACE_RECORD_SAMPLE'),
    },
  };
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
  };
}

/** The same for those who save a URL and those who connect to it. */
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

/** Control seals secrets and deliver opens them; collect runs without keys. */
function readKeyRing(read: Reader): Map<number, Buffer> {
  const text = read.text('MILLRACE_KEYS');
  const isNeeded = readRoles(read).some((role) => role !== 'collect');
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

function reader(env: Environment, problems: string[], isDemo: boolean): Reader {
  const problem = (name: Name, what: string) => {
    const text = `${name} ${what}`;
    // Roles share some settings: one mistake is reported once.
    if (!problems.includes(text)) problems.push(text);
  };
  const text = (name: Name) => env[name] ?? DEFAULTS[name];
  return {
    isDemo,
    text,
    problem,
    number(name, min, max) {
      const value = Number(text(name));
      const isGood = text(name) !== '' && Number.isInteger(value) && value >= min && value <= max;
      if (!isGood) problem(name, `must be a whole number from ${min} to ${max}`);
      return value;
    },
    duration(name) {
      const match = /^([1-9]\d*)(ms|s|m|h|d)$/.exec(text(name));
      if (match === null) problem(name, 'must be a number with a unit: 500ms, 30s, 10m, 72h or 7d');
      return Number(match?.[1] ?? 0) * (UNIT_MS[match?.[2] ?? ''] ?? 0);
    },
  };
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

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

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
