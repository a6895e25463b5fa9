/** The settings of a destination from the options of `create` and `update`. */
import { FILTER_OPS, type FilterOp, type FilterRule, ruleProblems } from '@millrace/contract';
import { variable } from '../../environment.ts';
import { Failure } from '../../output/failures.ts';
import { secretFromInput } from '../../output/prompt.ts';
import { readValue } from '../events/make-call.ts';

export type SettingOptions = {
  url?: string[];
  header?: string[];
  headerEnv?: string[];
  secretEnv?: string;
  secretStdin?: true;
  successPolicy?: string;
  bodyFormat?: string;
  order?: string;
  maxConcurrency?: string;
  maxPerSecond?: string;
  filter?: string[];
  filters: boolean;
};

/** Only the settings that were given: control keeps the others. */
export async function readSettings(options: SettingOptions): Promise<Record<string, unknown>> {
  const headers = readHeaders(options);
  const hasHeaders = Object.keys(headers).length > 0;
  if (hasHeaders && options.url === undefined) {
    throw usage('Headers belong to URLs.', 'Give --url with --header, or change one target with millrace apply.');
  }
  const secret = await readSecret(options);
  const targets = options.url?.map((url) => (hasHeaders ? { url, headers } : { url }));
  return {
    ...(targets === undefined ? {} : { targets }),
    ...(secret === undefined ? {} : { sharedSecret: secret }),
    ...(options.successPolicy === undefined ? {} : { successPolicy: options.successPolicy }),
    ...(options.bodyFormat === undefined ? {} : { bodyFormat: options.bodyFormat }),
    ...(options.order === undefined ? {} : { order: options.order }),
    ...readLimit('maxConcurrency', '--max-concurrency', options.maxConcurrency),
    ...readLimit('maxPerSecond', '--max-per-second', options.maxPerSecond),
  };
}

function readHeaders({ header = [], headerEnv = [] }: SettingOptions): Record<string, string> {
  const plain = header.map((text) => {
    const at = text.indexOf(':');
    if (at < 1) throw usage(`--header ${text} is no header.`, 'Write --header "X-Team: orders".');
    return [text.slice(0, at).trim(), text.slice(at + 1).trim()] as const;
  });
  const hidden = headerEnv.map((text) => {
    const [name = '', variableName = ''] = text.split('=', 2);
    return [name, fromEnvironment(variableName, '--header-env Authorization=VARIABLE')] as const;
  });
  return Object.fromEntries([...plain, ...hidden]);
}

async function readSecret({ secretEnv, secretStdin }: SettingOptions): Promise<string | undefined> {
  if (secretEnv !== undefined) return fromEnvironment(secretEnv, '--secret-env VARIABLE');
  return secretStdin ? secretFromInput() : undefined;
}

function fromEnvironment(name: string, form: string): string {
  const value = variable(name);
  if (value !== undefined) return value;
  throw usage(`The environment has no variable ${name}.`, `Set it, and write ${form}.`);
}

function readLimit(field: string, option: string, text: string | undefined): Record<string, number | null> {
  if (text === undefined) return {};
  if (text === 'none') return { [field]: null };
  if (/^[1-9]\d{0,5}$/.test(text)) return { [field]: Number(text) };
  throw usage(`${option} ${text} is no number.`, `Give one such as 10, or none.`);
}

/** `type equals track`, `properties.plan one_of ["pro","team"]`, `properties.test not_exists`, or a rule as JSON. */
export function readFilter(text: string): FilterRule {
  const rule = text.trimStart().startsWith('{') ? (readValue(text) as FilterRule) : readWords(text);
  const [first] = typeof rule === 'object' ? ruleProblems(rule) : [['', 'is no JSON'] as const];
  if (first === undefined) return rule;
  throw usage(`The filter "${text}" is not valid: ${first[0].replace('/', '')} ${first[1]}.`, FILTER_HINT);
}

const FILTER_HINT = `Write a field, a comparison (${FILTER_OPS.join(', ')}) and a value, such as --filter "type equals track".`;

function readWords(text: string): FilterRule {
  const [, field = '', op = '', rest] = /^(\S+)\s+(\S+)(?:\s+(.+))?$/.exec(text.trim()) ?? [];
  if (!(FILTER_OPS as readonly string[]).includes(op))
    throw usage(`The filter "${text}" has no comparison.`, FILTER_HINT);
  const value = rest === undefined ? undefined : readValue(rest);
  const known = { field, op: op as FilterOp };
  if (value === undefined) return known;
  return Array.isArray(value) ? { ...known, values: value as string[] } : { ...known, value: value as string };
}

function usage(what: string, todo: string): Failure {
  return new Failure(what, { exit: 'usage', todo });
}
