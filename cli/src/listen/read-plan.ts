/** Reads the options of `millrace listen`: every mistake ends in a sentence before anything is opened. */
import { randomBytes } from 'node:crypto';
import type { BodyFormat } from '@millrace/contract';
import { variable } from '../environment.ts';
import { Failure } from '../output/failures.ts';
import { checkFailureRules, type FailureRule, readDuration, readFailureRule } from './inject-failures.ts';

export type ListenOptions = {
  port: string;
  writeKey?: string;
  secret?: string;
  fail?: string[];
  delay?: string;
  allowOrigin?: string[];
  record?: string;
  count?: string;
  output?: 'json' | 'compact';
  json?: true;
  view: boolean;
  forward?: string;
  header?: string[];
  body?: BodyFormat;
  from?: string;
  source?: string;
  as?: string;
  since?: string;
  token?: string;
  workspace?: string;
};

export type Forwarding = { url: string; headers: Record<string, string>; secret: string; isSecretMade: boolean };

export type Remote = {
  /** An address, or the name of a profile. */
  server: string;
  source: string;
  as: string | undefined;
  sinceMs: number | undefined;
  token: string | undefined;
  workspace: string | undefined;
};

export type Plan = {
  port: number;
  writeKey: string | undefined;
  /** To check the signatures of webhooks. */
  secret: string | undefined;
  fail: readonly FailureRule[];
  delayMs: number;
  allowedOrigins: readonly string[];
  record: string | undefined;
  /** End after this many. */
  count: number;
  output: 'json' | 'compact' | 'view';
  body: BodyFormat | undefined;
  forward: Forwarding | undefined;
  remote: Remote | undefined;
};

export function readPlan(options: ListenOptions): Plan {
  const secret = options.secret ?? variable('MILLRACE_SECRET');
  const fail = (options.fail ?? []).map(readFailureRule);
  checkFailureRules(fail);
  const remote = readRemote(options);
  if (remote !== undefined && fail.length > 0)
    throw usage('--fail is for calls that arrive here, and --from collects none.', 'Leave one of them out.');
  return {
    port: readNumber('--port', options.port, { least: 0, most: 65_535 }),
    writeKey: options.writeKey,
    secret,
    fail,
    delayMs: options.delay === undefined ? 0 : readDuration('--delay', options.delay),
    allowedOrigins: (options.allowOrigin ?? []).map(readOrigin),
    record: options.record,
    count: options.count === undefined ? Infinity : readNumber('--count', options.count, { least: 1, most: 1e9 }),
    output: readOutput(options),
    body: options.body,
    forward: readForwarding(options, secret),
    remote,
  };
}

function readOrigin(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : 'null';
  if (origin !== 'null' && origin === text.replace(/\/$/, '').toLowerCase()) return origin;
  throw usage(
    `--allow-origin does not take ${JSON.stringify(text)}.`,
    'Give scheme, host and port of the page: --allow-origin https://shop.test:8443.',
  );
}

function readOutput({ json, output, view }: ListenOptions): Plan['output'] {
  if (json === true || output === 'json') return 'json';
  return output === 'compact' || !view ? 'compact' : 'view';
}

function readForwarding({ forward, header = [] }: ListenOptions, secret: string | undefined): Forwarding | undefined {
  if (forward === undefined) {
    if (header.length > 0) throw usage('--header is for forwarded webhooks.', 'Give --forward URL, too.');
    return undefined;
  }
  if (!URL.canParse(forward) || !/^https?:$/.test(new URL(forward).protocol)) {
    throw usage(
      `--forward does not take ${JSON.stringify(forward)}.`,
      'Give a whole address: --forward http://localhost:3000/hook.',
    );
  }
  const made = `whsec_${randomBytes(24).toString('base64')}`;
  return {
    url: new URL(forward).href,
    headers: Object.fromEntries(header.map(readHeader)),
    secret: secret ?? made,
    isSecretMade: secret === undefined,
  };
}

function readHeader(text: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*([\x20-\x7e]*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw usage(
      `--header does not take ${JSON.stringify(text)}.`,
      "Give a name and a value: --header 'Authorization: Bearer abc'.",
    );
  }
  return [name, value];
}

function readRemote(options: ListenOptions): Remote | undefined {
  const { from: server, source, as, since, token, workspace } = options;
  if (server === undefined) {
    const given = Object.entries({ '--source': source, '--as': as, '--since': since }).find(
      ([, value]) => value !== undefined,
    );
    if (given !== undefined) throw usage(`${given[0]} is for the events of a server.`, 'Give --from SERVER, too.');
    return undefined;
  }
  if (source === undefined) throw usage('--from needs a source.', 'Give its name or id: --source Shop.');
  const sinceMs = since === undefined ? undefined : readDuration('--since', since);
  return { server, source, as, sinceMs, token, workspace };
}

function readNumber(option: string, text: string, { least, most }: { least: number; most: number }): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  throw usage(`${option} does not take ${JSON.stringify(text)}.`, `Give a whole number from ${least} to ${most}.`);
}

function usage(message: string, todo: string): Failure {
  return new Failure(message, { exit: 'usage', todo });
}
