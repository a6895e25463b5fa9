import { MAX_MESSAGE_ID_CHARACTERS } from './limits.ts';

/** The id as text; undefined where there is none: null and '' are what clients send for "unknown". */
export function readId(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' && Number.isFinite(value) ? decimalText(value) : undefined;
}

/** True also where there is no id: whether one is needed is another question. */
export function isIdReadable(value: unknown): boolean {
  if (typeof value === 'string' || value === undefined || value === null) return true;
  return typeof value === 'number' && Number.isFinite(value);
}

/** Like `readId(value) !== undefined`, without making the text. */
export function hasId(value: unknown): boolean {
  return typeof value === 'string' ? value !== '' : typeof value === 'number' && Number.isFinite(value);
}

export function isMessageIdTooLong(value: unknown): boolean {
  const id = readId(value);
  if (id === undefined || id.length <= MAX_MESSAGE_ID_CHARACTERS) return false;
  if (id.length > 2 * MAX_MESSAGE_ID_CHARACTERS) return true;
  return Array.from(id).length > MAX_MESSAGE_ID_CHARACTERS;
}

/** Databases that key users by number print 1e21 in full; an exponent would be another user. */
function decimalText(value: number): string {
  const text = String(value);
  const exponentAt = text.indexOf('e');
  if (exponentAt === -1) return text;
  const sign = value < 0 ? '-' : '';
  const [whole = '', fraction = ''] = text.slice(sign.length, exponentAt).split('.');
  const digits = whole + fraction;
  const exponent = Number(text.slice(exponentAt + 1));
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  return sign + digits.padEnd(exponent + 1, '0');
}
