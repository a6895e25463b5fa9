/** The settings of a destination compared with those of the server, which never shows a secret. Pure but for the environment. */
import { isObject } from '@millrace/server/walk-settings';
import type { DestinationConfig } from './model.ts';
import { hasReference, KEEP, secretValue, withSecrets } from './secrets.ts';

/** `from` and `to` are texts for people; a secret is never in them. */
export type FieldChange = { field: string; from: string | null; to: string | null };

export type SettingsPlan = {
  fields: FieldChange[];
  /** For the API: secrets that stay are `{"set": true}`, settings that go are null. */
  body: Record<string, unknown>;
  /** References to secrets that the server does not have, and the environment neither. */
  missing: string[];
};

type Settings = Record<string, unknown>;

export function compareSettings(
  { settings: wanted, written: texts }: DestinationConfig,
  before: DestinationConfig | undefined,
  schema: object,
  setSecrets: boolean,
): SettingsPlan {
  const current = before?.settings ?? {};
  const stored = storedSecrets(current, schema);
  const missing: string[] = [];
  const written: FieldChange[] = [];
  const body = withSecrets(schema, wanted, (path, reference) => {
    const text = String(reference);
    const isStored = stored.has(identityOf(wanted, path));
    const value = secretValue(text);
    if (isStored && (!setSecrets || text === KEEP)) return { set: true };
    if (value === undefined) missing.push(text === KEEP ? `the secret ${fieldName(path)}` : text);
    written.push({ field: fieldName(path), from: isStored ? 'the stored secret' : null, to: text });
    return value ?? '';
  });
  const gone = Object.fromEntries(
    Object.keys(current)
      .filter((name) => !(name in wanted))
      .map((name) => [name, null]),
  );
  return {
    fields: [...compareOpen(open(schema, current), open(schema, wanted), texts), ...written],
    body: { ...body, ...gone },
    missing,
  };
}

/** The same settings with one word for every secret. */
function open(schema: object, settings: Settings): Settings {
  return withSecrets(schema, settings, () => 'a secret');
}

function storedSecrets(current: Settings, schema: object): ReadonlySet<string> {
  const found = new Set<string>();
  withSecrets(schema, current, (path) => {
    found.add(identityOf(current, path));
    return undefined;
  });
  return found;
}

/** Control keeps the headers of a target only with its URL, wherever the target stands in the list. */
function identityOf(settings: Settings, path: string): string {
  const [, index, rest] = /^\/targets\/(\d+)\/(.*)$/.exec(path) ?? [];
  const targets = settings['targets'];
  if (index === undefined || !Array.isArray(targets)) return path;
  const target: unknown = targets[Number(index)];
  return `${isObject(target) ? String(target['url']) : ''} ${rest}`;
}

function fieldName(path: string): string {
  return `settings${path.replaceAll('/', '.')}`;
}

/**
 * One change for each leaf that differs. A secret that comes is told by its reference, so only one that goes is told here. A value that
 * the environment has a part in is told as the file writes it.
 */
function compareOpen(before: unknown, wanted: unknown, written: unknown, path = ''): FieldChange[] {
  if (isBranch(before) || isBranch(wanted)) {
    const [from, to, texts] = [entriesOf(before), entriesOf(wanted), entriesOf(written)];
    const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
    return names.flatMap((name) => compareOpen(from[name], to[name], texts[name], `${path}/${name}`));
  }
  if (before === wanted || wanted === 'a secret') return [];
  const field = fieldName(path);
  if (typeof written === 'string' && hasReference(written)) {
    // The value before may be what the environment gave to an earlier apply.
    return [{ field, from: before === undefined ? null : 'another value', to: written }];
  }
  return [{ field, from: textOf(before), to: textOf(wanted) }];
}

function isBranch(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function entriesOf(value: unknown): Record<string, unknown> {
  return isBranch(value) ? (value as Record<string, unknown>) : {};
}

export function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
