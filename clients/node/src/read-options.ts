import type { Options, WhenFull } from './options.ts';
import { VERSION } from './version.ts';

export type Settings = ReturnType<typeof readOptions>;

const DEFAULTS = {
  endpoint: 'http://localhost:8080',
  flushAfter: 5_000,
  maxQueueCalls: 10_000,
  maxQueueBytes: 16_777_216,
  whenFull: 'dropNewest' as WhenFull,
  maxTries: 10,
  minRetryMs: 200,
  maxRetryMs: 30_000,
  timeoutMs: 10_000,
  gzip: true,
  flushOnExit: true,
  exitTimeoutMs: 5_000,
  library: { name: '@millrace/node', version: VERSION },
  now: Date.now,
  makeId: () => `node-${crypto.randomUUID()}`,
};

const FLUSH_AT = 20;

const SMALLEST: Readonly<Record<string, number>> = {
  flushAt: 1,
  flushAfter: 1,
  maxQueueCalls: 1,
  maxQueueBytes: 1,
  maxTries: 1,
  minRetryMs: 0,
  maxRetryMs: 0,
  timeoutMs: 1,
  exitTimeoutMs: 0,
};

/** Every option with its default; throws one error that names all mistakes. */
export function readOptions(options: Options) {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options;
  const settings = {
    ...DEFAULTS,
    ...(given as Partial<typeof DEFAULTS>),
    flushAt: given.flushAt ?? given.size ?? FLUSH_AT,
    spool: given.spool,
    onError: given.onError,
  };
  const problems = problemsOf(settings);
  if (problems.length > 0) throw new TypeError(`Millrace cannot be set up: ${problems.join('; ')}.`);
  return { ...settings, url: batchUrl(settings.endpoint) };
}

function problemsOf(settings: Readonly<Record<string, unknown>>): string[] {
  const problems: string[] = [];
  for (const [name, least] of Object.entries(SMALLEST)) {
    const value = settings[name];
    if (typeof value !== 'number' || !(value >= least)) problems.push(`${name} must be a number from ${least} up`);
  }
  if (settings['whenFull'] !== 'dropNewest' && settings['whenFull'] !== 'dropOldest') {
    problems.push('whenFull must be dropNewest or dropOldest');
  }
  const { endpoint } = settings;
  if (typeof endpoint !== 'string' || !/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint)) {
    problems.push('endpoint must be a URL with http or https');
  }
  return problems;
}

/** A prefix in the endpoint is part of the way to the service, so it stays. */
function batchUrl(endpoint: string): URL {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/batch`;
  return url;
}
