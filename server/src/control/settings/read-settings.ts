import type { CatalogEntry, SettingKind } from '@millrace/contract/control';
import { Compile } from 'typebox/compile';
import type { FieldError } from '../problems/problems.ts';
import { errorsOf } from '../problems/validate.ts';
import { isObject, mapSecrets, rootPlace, type SettingPlace, visitSettings } from '../../secrets/walk-settings.ts';
import { headerProblems } from './webhook-headers.ts';
import { secretProblem } from './webhook-secret.ts';
import { urlProblem } from './webhook-url.ts';
import type { Networks } from '../../http/address-policy.ts';
import type { Settings } from '../../secrets/sealed-settings.ts';

export type SettingsRead = { ok: true; settings: Settings } | { ok: false; errors: FieldError[] };
export type SettingsContext = {
  networks: Networks;
  /** As the row has them, when the destination exists. */
  stored?: Record<string, unknown>;
};

/** Rules that JSON Schema cannot say, by the name a schema calls them with. */
const RULES: Record<SettingKind, (value: unknown, networks: Networks) => [path: string, message: string][]> = {
  'webhook-url': (value, networks) => {
    const problem = typeof value === 'string' ? urlProblem(value, networks) : undefined;
    return problem === undefined ? [] : [['', problem]];
  },
  'webhook-secret': (value) => {
    const problem = typeof value === 'string' ? secretProblem(value) : undefined;
    return problem === undefined ? [] : [['', problem]];
  },
  'webhook-headers': (value) => (isObject(value) ? [...headerProblems(value)].map(([n, m]) => [`/${n}`, m]) : []),
};

/** Parses the settings of a request: returns settings to be sealed, or every mistake in them. */
export function readSettings(entry: CatalogEntry, given: unknown, context: SettingsContext): SettingsRead {
  const { value, kept, errors } = keepSecrets(entry, given, context.stored);
  errors.push(...errorsOf(Compile(entry.settings), value).filter(({ path }) => !kept.has(path)));
  visitSettings(rootPlace(entry.settings), value, ({ schema, path }, each) => {
    const problem = textProblem(each);
    if (problem !== undefined) errors.push({ path: path || '/', message: problem });
    for (const [inner, message] of schema.kind === undefined ? [] : RULES[schema.kind](each, context.networks)) {
      if (!kept.has(path + inner)) errors.push({ path: path + inner, message });
    }
  });
  const first = [...new Map(errors.toReversed().map((error) => [error.path, error])).values()].toReversed();
  if (first.length > 0) return { ok: false, errors: first };
  return { ok: true, settings: { value: value as Record<string, unknown>, kept } };
}

/** `{"set":true}`, as the API shows a secret, means the stored one. It must have been there, in the same item of a list. */
function keepSecrets(entry: CatalogEntry, given: unknown, stored: Record<string, unknown> | undefined) {
  const kept = new Map<string, unknown>();
  const errors: FieldError[] = [];
  const storedSecrets = secretsByIdentity(entry, stored);
  const identities = identitiesOf(entry, given);
  const value = mapSecrets(rootPlace(entry.settings), given, (place, each) => {
    if (!isObject(each) || each['set'] !== true) return each;
    const identity = identify(place, identities);
    const secret = storedSecrets.get(`${identity} ${place.path}`) ?? storedSecrets.get(identity);
    kept.set(place.path, secret);
    if (secret === undefined) {
      errors.push({ path: place.path, message: 'has no stored value to keep here: send the value itself' });
    }
    return '';
  });
  return { value, kept, errors };
}

/** List items are identified by their identity mark, not by position: a header must not move to another URL. */
function secretsByIdentity(entry: CatalogEntry, stored: unknown): Map<string, unknown> {
  const identities = identitiesOf(entry, stored);
  const secrets = new Map<string, unknown>();
  mapSecrets(rootPlace(entry.settings), stored, (place, each) => {
    const identity = identify(place, identities);
    // Two items may have the same identity: then the position decides.
    secrets.set(`${identity} ${place.path}`, each);
    if (!secrets.has(identity)) secrets.set(identity, each);
    return each;
  });
  return secrets;
}

/** The value marked as identity, by the path of the item it is in. */
function identitiesOf(entry: CatalogEntry, value: unknown): Map<string, string> {
  const identities = new Map<string, string>();
  visitSettings(rootPlace(entry.settings), value, ({ schema, path }, each) => {
    if (schema.identity === true) identities.set(path.slice(0, path.lastIndexOf('/')), JSON.stringify(each));
  });
  return identities;
}

function identify({ path, column }: SettingPlace, identities: Map<string, string>): string {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    const identity = identities.get(path.slice(0, end));
    if (identity !== undefined) return `${column} ${identity}`;
  }
  return `${column} ${path}`;
}

/** PostgreSQL stores no NUL and no lone surrogate. */
function textProblem(value: unknown): string | undefined {
  const texts = typeof value === 'string' ? [value] : isObject(value) ? Object.keys(value) : [];
  const isBad = texts.some((text) => text.includes('\u0000') || !text.isWellFormed());
  return isBad ? 'must not contain NUL or half of a surrogate pair' : undefined;
}
