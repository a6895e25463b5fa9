const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Years 0000 to 9999: beyond them ISO 8601 needs a sign and six digits, which few receivers can read. */
const EARLIEST_MS = -62_167_219_200_000;
const LATEST_MS = 253_402_300_799_999;

const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365] as const;
const DAYS_BEFORE_1970 = 719_528;

const WRITTEN_FORMS =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)?)?$/;
const EPOCH_MS_AS_TEXT = /^\d{12,14}$/;

/** Epoch milliseconds of any form that client libraries send; undefined when it cannot be read. */
export function parseTimestamp(value: unknown): number | undefined {
  if (typeof value === 'string') return withinYears(readCanonical(value) ?? readOtherForms(value));
  if (typeof value === 'number') return withinYears(wholeMs(value));
  return undefined;
}

export function formatTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** Whether a timestamp that could be read is already what `formatTimestamp` would make of it: that costs more than to look. */
export function isFormatted(value: unknown): value is string {
  return typeof value === 'string' && value.length === 24 && hasCanonicalMarks(value) && !value.startsWith('60', 17);
}

/** Undefined also for NaN, which is what the parts of an impossible date add up to. */
export function withinYears(epochMs: number): number | undefined {
  return epochMs >= EARLIEST_MS && epochMs <= LATEST_MS ? epochMs : undefined;
}

/** `2026-11-15T00:08:46.123Z`, which nearly every call carries; a regular expression would be most of its cost. */
function readCanonical(text: string): number | undefined {
  if (text.length !== 24 || !hasCanonicalMarks(text)) return undefined;
  const day = dayMs(digitsAt(text, 0) * 100 + digitsAt(text, 2), digitsAt(text, 5), digitsAt(text, 8));
  const second = digitsAt(text, 17);
  const milliseconds = digitsAt(text, 20) * 10 + digitAt(text, 22);
  if (milliseconds < 0) return Number.NaN;
  return day + clockMs(digitsAt(text, 11), digitsAt(text, 14), second) + (second === 60 ? 0 : milliseconds);
}

function hasCanonicalMarks(text: string): boolean {
  return (
    text.charCodeAt(4) === 0x2d &&
    text.charCodeAt(7) === 0x2d &&
    text.charCodeAt(10) === 0x54 &&
    text.charCodeAt(13) === 0x3a &&
    text.charCodeAt(16) === 0x3a &&
    text.charCodeAt(19) === 0x2e &&
    text.charCodeAt(23) === 0x5a
  );
}

function digitsAt(text: string, at: number): number {
  return digitAt(text, at) * 10 + digitAt(text, at + 1);
}

/** A character that is not a digit makes its number negative, for any other digits. */
function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 0x30;
  return digit >= 0 && digit <= 9 ? digit : -100_000;
}

function readOtherForms(text: string): number {
  const parts = WRITTEN_FORMS.exec(text);
  if (parts === null) return EPOCH_MS_AS_TEXT.test(text) ? Number(text) : Number.NaN;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = ''] = parts;
  const milliseconds = second === '60' ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'));
  const localMs =
    dayMs(Number(year), Number(month), Number(day)) + clockMs(Number(hour), Number(minute), Number(second));
  return localMs + milliseconds - offsetMs(parts[8], Number(parts[9] ?? 0), Number(parts[10] ?? 0));
}

function offsetMs(sign: string | undefined, hours: number, minutes: number): number {
  if (hours > 14 || minutes > 59) return Number.NaN;
  const length = hours * HOUR_MS + minutes * MINUTE_MS;
  return sign === '-' ? -length : length;
}

/** A leap second is the first moment of the next minute, since epoch time has no place for it. */
function clockMs(hour: number, minute: number, second: number): number {
  const isLeapSecond = second === 60 && minute === 59;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return Number.NaN;
  if (second < 0 || (second > 59 && !isLeapSecond)) return Number.NaN;
  return hour * HOUR_MS + minute * MINUTE_MS + second * 1_000;
}

/** Counted by hand because Date.UTC reads the years 0 to 99 as 1900 to 1999 and takes 30 February for 2 March. */
function dayMs(year: number, month: number, day: number): number {
  if (year < 0 || month < 1 || month > 12 || day < 1) return Number.NaN;
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const leapDay = isLeapYear && month > 2 ? 1 : 0;
  const dayOfYear = DAYS_BEFORE_MONTH[month - 1] ?? 0;
  const monthDays = (DAYS_BEFORE_MONTH[month] ?? 0) - dayOfYear + (isLeapYear && month === 2 ? 1 : 0);
  if (day > monthDays) return Number.NaN;
  return (daysBefore(year) + dayOfYear + leapDay + day - 1 - DAYS_BEFORE_1970) * DAY_MS;
}

/** From the first day of the year 0, itself a leap year. */
function daysBefore(year: number): number {
  return year * 365 + Math.ceil(year / 4) - Math.ceil(year / 100) + Math.ceil(year / 400);
}

/** Adding 0 turns -0 into 0. */
function wholeMs(value: number): number {
  return Math.trunc(value) + 0;
}
