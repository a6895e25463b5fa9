/** The settings of a process for its operator's eyes: secrets never leave. */
import { DEFAULTS, type Name } from './read-setting.ts';

export type ShownSetting = { name: string; value: string; isDefault: boolean };

const MASK = '***';
/** By the end of the name, so that a setting that is added later is masked too. Names of files are no secrets. */
const SECRET = /(KEY|KEYS|TOKEN|SECRET|PASSWORD)$/;
const URLS = /_URL$/;
/** Parts of a query string that are no secret. */
const PLAIN_PARTS = ['sslmode', 'application_name'];

export function showSettings(text: (name: Name) => string): ShownSetting[] {
  return (Object.keys(DEFAULTS) as Name[]).map((name) => {
    const value = text(name);
    return { name, value: shown(name, value), isDefault: value === DEFAULTS[name] };
  });
}

function shown(name: string, value: string): string {
  if (value === '') return '';
  if (SECRET.test(name)) return MASK;
  return URLS.test(name) ? value.split(',').map(showUrl).join(',') : value;
}

/** A NATS token stands where the user's name does, so a name without a password is masked as well. */
function showUrl(given: string): string {
  const text = given.trim();
  const url = URL.parse(text.includes('://') ? text : `nats://${text}`);
  if (url === null) return MASK;
  if (url.password === '' && url.username !== '' && !url.protocol.startsWith('postgres')) url.username = MASK;
  if (url.password !== '') url.password = MASK;
  for (const part of new Set(url.searchParams.keys()))
    if (!PLAIN_PARTS.includes(part)) url.searchParams.set(part, MASK);
  return url.href;
}
