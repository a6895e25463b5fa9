/** The settings of a process for its operator's eyes: secrets never leave. */
import { DEFAULTS, type Name } from './read-setting.ts';

export type ShownSetting = { name: string; value: string; isDefault: boolean };

const MASK = '***';
/** By the end of the name, so that a setting that is added later is masked too. Names of files are no secrets. */
const SECRET = /(KEY|KEYS|TOKEN|SECRET|PASSWORD)$/;
const URLS = /_URL$/;
/** The one setting that may hold several: elsewhere a comma may be part of a password. */
const NATS_URLS = 'MILLRACE_NATS_URL';
/** JSON, with such URLs in it. */
const CELLS = 'MILLRACE_CELLS';
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
  if (name === CELLS) return showCells(value);
  if (name === NATS_URLS) return value.split(',').map(showNatsUrl).join(',');
  return URLS.test(name) ? showUrl(value) : value;
}

/** As JSON whose URLs are masked; a text that is none is masked as a whole. */
function showCells(value: string): string {
  try {
    const mask = (key: string, part: unknown) =>
      key === 'url' ? String(part).split(',').map(showNatsUrl).join(',') : part;
    return JSON.stringify(JSON.parse(value), mask);
  } catch {
    return MASK;
  }
}

/** The scheme may be left out. */
function showNatsUrl(given: string): string {
  const text = given.trim();
  return showUrl(text.includes('://') ? text : `nats://${text}`);
}

/** A NATS token stands where the user's name does, so a name without a password is masked as well. */
function showUrl(given: string): string {
  const url = URL.parse(given);
  // Without a host it is no URL of ours, and an @ behind the host means that a password with a /, ? or # was taken apart wrongly.
  if (url === null || url.host === '' || `${url.pathname}${url.search}${url.hash}`.includes('@')) return MASK;
  url.hash = '';
  if (url.password === '' && url.username !== '' && !url.protocol.startsWith('postgres')) url.username = MASK;
  if (url.password !== '') url.password = MASK;
  for (const part of new Set(url.searchParams.keys()))
    if (!PLAIN_PARTS.includes(part)) url.searchParams.set(part, MASK);
  return url.href;
}
