/** Months as the API names them: `2026-11`. Usage is counted by months in UTC. */
const NAMES = 'January February March April May June July August September October November December'.split(' ');

export function monthOf(at: number): string {
  return new Date(at).toISOString().slice(0, 7);
}

/** Undefined for anything that is no month. */
export function readMonth(text: string | undefined): string | undefined {
  return text !== undefined && /^20\d\d-(0[1-9]|1[0-2])$/.test(text) ? text : undefined;
}

export function monthWords(month: string): string {
  return `${NAMES[Number(month.slice(5)) - 1] ?? ''}\u00a0${month.slice(0, 4)}`;
}

/** The month so many months away; negative ones lie before. */
export function addMonths(month: string, months: number): string {
  const first = new Date(`${month}-01T00:00:00Z`);
  first.setUTCMonth(first.getUTCMonth() + months);
  return first.toISOString().slice(0, 7);
}

export function daysOf(month: string): string[] {
  const last = new Date(`${addMonths(month, 1)}-01T00:00:00Z`).getTime() - 1;
  const days = new Date(last).getUTCDate();
  return Array.from({ length: days }, (_, day) => `${month}-${String(day + 1).padStart(2, '0')}`);
}
