/** How a setting is read from text. Only `config.ts` knows the environment. */
import { LIMITS } from './limits/limits.ts';

/** Every setting with its default; docs/run/settings.md lists them, and a test holds the two together. */
export const DEFAULTS = {
  MILLRACE_ROLES: 'collect,deliver,control,compute',
  MILLRACE_PROCESSES: 'auto',
  MILLRACE_SECRETS_DIR: '',
  MILLRACE_NATS_URL: 'nats://127.0.0.1:4222',
  MILLRACE_NATS_CA_FILE: '',
  MILLRACE_NATS_CERT_FILE: '',
  MILLRACE_NATS_KEY_FILE: '',
  MILLRACE_NATS_NKEY_FILE: '',
  MILLRACE_NATS_CREDS_FILE: '',
  MILLRACE_CELLS: '',
  MILLRACE_CELL: 'main',
  MILLRACE_HOST: '0.0.0.0',
  MILLRACE_COLLECT_HOST: '',
  MILLRACE_COLLECT_PORT: '8080',
  MILLRACE_COLLECT_URL: '',
  MILLRACE_TRUSTED_PROXIES: '',
  MILLRACE_CONTROL_HOST: '',
  MILLRACE_CONTROL_PORT: '8081',
  MILLRACE_CONSOLE_DIR: '',
  MILLRACE_CREATE_WORKSPACES: 'operator',
  MILLRACE_WORKSPACE_GRACE: '14d',
  MILLRACE_CONSOLE_URL: '',
  MILLRACE_SMTP_URL: '',
  MILLRACE_MAIL_FROM: '',
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
  MILLRACE_LIMIT_CALLS_PER_SECOND: String(LIMITS.callsPerSecond.default),
  MILLRACE_LIMIT_SOURCES: String(LIMITS.sources.default),
  MILLRACE_LIMIT_DESTINATIONS: String(LIMITS.destinations.default),
  MILLRACE_LIMIT_TARGET_HOSTS: String(LIMITS.targetHosts.default),
  MILLRACE_LIMIT_CONFIG_BYTES: String(LIMITS.configBytes.default),
  MILLRACE_LIMIT_LANE_BYTES: String(LIMITS.laneBytes.default),
  MILLRACE_LIMIT_DEAD_LETTER_BYTES: String(LIMITS.deadLetterBytes.default),
  MILLRACE_LIMIT_JOBS: String(LIMITS.jobs.default),
  MILLRACE_LIMIT_TAILS: String(LIMITS.tails.default),
  MILLRACE_LIMIT_API_REQUESTS_PER_SECOND: String(LIMITS.apiRequestsPerSecond.default),
  MILLRACE_HOST_ATTEMPTS: '1000',
  MILLRACE_HOST_ATTEMPTS_PER_SECOND: '5000',
  MILLRACE_HOST_PROOF: 'off',
  MILLRACE_HOSTS_WITHOUT_PROOF: '',
  MILLRACE_DRAIN_MS: '1000',
  MILLRACE_REPLICAS: '1',
  MILLRACE_EVENT_STREAMS: '2',
  MILLRACE_LANE_STREAMS: '2',
  MILLRACE_OUTCOME_STREAMS: '1',
  MILLRACE_RETENTION: '72h',
  MILLRACE_DEDUP_WINDOW: '10m',
  MILLRACE_RECORD_RETENTION: '7d',
  MILLRACE_COUNTER_RETENTION: '400d',
  MILLRACE_RECORD_SAMPLE: '1',
  MILLRACE_RECORD_ROWS: '1',
  MILLRACE_EXPORT_RETENTION: '24h',
  MILLRACE_LOG_LEVEL: 'info',
} as const;

export type Name = keyof typeof DEFAULTS;
export type Reader = {
  /** Whether `npm run dev` asks, which is the only place where the demo's secrets are good. */
  isDemo: boolean;
  text(name: Name): string;
  number(name: Name, min: number, max: number): number;
  duration(name: Name): number;
  problem(name: Name, what: string): void;
};

export type Environment = Readonly<Record<string, string | undefined>>;

export function reader(env: Environment, problems: string[], isDemo: boolean): Reader {
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

export function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
