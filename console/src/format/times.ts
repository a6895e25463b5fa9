/** Times as the console writes them: in the browser's zone, the clock time first, the distance beside it. */
const NBSP = '\u00a0';
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

type Moment = string | number | Date;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (value: number) => String(value).padStart(2, '0');

export function clock(at: Moment): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function clockMs(at: Moment): string {
  return `${clock(at)}.${String(new Date(at).getMilliseconds()).padStart(3, '0')}`;
}

export function day(at: Moment, now: Moment = Date.now()): string {
  const date = new Date(at);
  const year = date.getFullYear() === new Date(now).getFullYear() ? '' : `${NBSP}${date.getFullYear()}`;
  return `${date.getDate()}${NBSP}${MONTHS[date.getMonth()]}${year}`;
}

/** `14:36:18` within a day, `16 Nov 09:12` further away, with the year when it is another one. */
export function moment(at: Moment, now: Moment = Date.now()): string {
  const awayMs = Math.abs(new Date(now).getTime() - new Date(at).getTime());
  if (awayMs < DAY_MS) return clock(at);
  const date = new Date(at);
  return `${day(at, now)}${NBSP}${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** How long something takes or took, in at most two units: "3 h 22 min". */
export function duration(ms: number): string {
  const value = Math.abs(ms);
  if (value < 1_000) return `${Math.round(value)}${NBSP}ms`;
  if (value < MINUTE_MS) return `${Math.round(value / 1_000)}${NBSP}s`;
  if (value < HOUR_MS) return twoUnits(value, [MINUTE_MS, 'min'], [1_000, 's'], 10);
  if (value < DAY_MS) return twoUnits(value, [HOUR_MS, 'h'], [MINUTE_MS, 'min'], 24);
  return twoUnits(value, [DAY_MS, value >= 2 * DAY_MS || value < DAY_MS ? 'days' : 'day'], [HOUR_MS, 'h'], 3);
}

/** The smaller unit is left out when the larger one says enough. */
function twoUnits(ms: number, [large, name]: [number, string], [small, smallName]: [number, string], enough: number) {
  const whole = Math.floor(ms / large);
  const rest = Math.floor((ms - whole * large) / small);
  const first = `${whole}${NBSP}${name}`;
  return rest === 0 || whole >= enough ? first : `${first} ${rest}${NBSP}${smallName}`;
}

/** "38 min ago", "in 3 h 22 min", "now". */
export function distance(at: Moment, now: Moment = Date.now()): string {
  const ms = new Date(at).getTime() - new Date(now).getTime();
  if (Math.abs(ms) < 1_000) return 'now';
  return ms > 0 ? `in ${duration(ms)}` : `${duration(ms)} ago`;
}

/** "CET (UTC+1)". */
export function zone(at: Date = new Date()): string {
  const name = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' })
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value;
  const minutes = -at.getTimezoneOffset();
  const rest = minutes % 60 === 0 ? '' : `:${two(Math.abs(minutes % 60))}`;
  const offset = minutes === 0 ? 'UTC' : `UTC${minutes < 0 ? '−' : '+'}${Math.floor(Math.abs(minutes) / 60)}${rest}`;
  return name === undefined || name.startsWith('GMT') || name === 'UTC' ? offset : `${name} (${offset})`;
}

/** All forms of one time, for hover and focus. */
export function allForms(at: Moment): string {
  const date = new Date(at);
  const local = `${day(at, 0)} ${clockMs(at)} ${zone(date)}`;
  return `${local}\n${date.toISOString()}\nepoch ${date.getTime()}`;
}
