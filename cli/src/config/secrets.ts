/** Secrets in files are references: to the environment, or to the value that the server has. */
import { isObject, mapSecrets, rootPlace } from '@millrace/server/walk-settings';
import { variable } from '../environment.ts';
import { Failure } from '../output/failures.ts';

export const KEEP = '${keep}';
const REFERENCE = /^\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}$/;
/** `$${` stands for the text `${`, so that the text of a setting is never taken for a reference. */
const REFERENCES = /\$\$\{|\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g;

type Settings = Record<string, unknown>;
type Secrets = (path: string, value: unknown) => unknown;

/** A copy of the settings with each secret replaced; the schema of the catalog says which values are secrets. */
export function withSecrets(schema: object, settings: Settings, replace: Secrets): Settings {
  return mapSecrets(rootPlace(schema), settings, ({ path }, value) => replace(path, value)) as Settings;
}

/** `${env:WEB_ORDERS_SHARED_SECRET}` for the secret `/sharedSecret` of the destination orders of web. */
export function referenceFor(source: string, destination: string, path: string): string {
  const words = [source, destination, ...path.split('/').filter((part) => part !== '' && part !== 'targets')];
  const name = words
    .flatMap((word) => word.replace(/([a-z])([A-Z])/g, '$1_$2').split(/[^A-Za-z0-9]+/))
    .filter((word) => word !== '')
    .join('_')
    .toUpperCase();
  return `\${env:${/^[0-9]/.test(name) ? `_${name}` : name}}`;
}

/** A secret in clear would be in git for ever: the file is refused before anything is asked or changed. */
export function mustBeReference(place: string, value: unknown): void {
  if (typeof value === 'string' && (value === KEEP || REFERENCE.test(value))) return;
  throw new Failure(`${place} holds a secret in clear.`, {
    exit: 'refused',
    todo: `Write a reference such as \${env:SHOP_SECRET} or ${KEEP} in its place, and replace the secret if the file was shared.`,
  });
}

/** The value of a reference; undefined when the environment has none, or it only keeps what is there. */
export function secretValue(reference: string): string | undefined {
  const name = REFERENCE.exec(reference)?.[1];
  return name === undefined ? undefined : variable(name);
}

/** Texts of the server as a file writes them. */
export function escapeReferences(value: unknown): unknown {
  return mapTexts(value, '', (text) => text.replaceAll('${', '$$$${'));
}

/** Whether the environment has a part in this text of a file. */
export function hasReference(text: string): boolean {
  return [...text.matchAll(REFERENCES)].some(([, name]) => name !== undefined);
}

/** References in values that are no secrets, such as the host in a URL. */
export function resolveReferences(value: unknown, place: string): unknown {
  return mapTexts(value, place, resolveText);
}

type Change = (text: string, place: string) => string;

function mapTexts(value: unknown, place: string, change: Change): unknown {
  if (Array.isArray(value)) return value.map((each, at) => mapTexts(each, `${place}.${at}`, change));
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, mapTexts(each, `${place}.${name}`, change)]),
    );
  }
  return typeof value === 'string' ? change(value, place) : value;
}

function resolveText(text: string, place: string): string {
  return text.replace(REFERENCES, (_, name: string | undefined) => {
    if (name === undefined) return '${';
    const found = variable(name);
    if (found !== undefined) return found;
    throw new Failure(`${place} refers to ${name}, which the environment does not have.`, {
      exit: 'usage',
      todo: `Set ${name}.`,
    });
  });
}
