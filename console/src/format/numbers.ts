/** Figures as the console writes them: a comma for thousands, k and M on axes, "about" before every estimate. */
const THIN = '\u202f';

// Not Intl.NumberFormat: the first one takes a slow computer 200 ms, and this is all that the console needs of it.
export function count(value: number): string {
  return value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** For axes and narrow cells: 10,000 and more in k and M. */
export function short(value: number): string {
  if (value >= 1_000_000) return `${trimmed(value / 1_000_000)}M`;
  if (value >= 10_000) return `${trimmed(value / 1_000)}k`;
  return value < 10 && !Number.isInteger(value) ? value.toFixed(1) : count(value);
}

/** Two places above 99 %, else one; never 100 when something is missing. */
export function percent(share: number): string {
  const value = share * 100;
  if (value === 100 || value === 0) return `${value}`;
  const places = value > 99 ? 2 : 1;
  const text = value.toFixed(places);
  if (Number(text) >= 100) return '99.99';
  return Number(text) === 0 ? '<0.1' : text;
}

export function bytes(value: number): string {
  if (value < 1_024) return `${count(value)}${THIN}bytes`;
  if (value < 1_024 ** 2) return `${trimmed(value / 1_024)}${THIN}KiB`;
  if (value < 1_024 ** 3) return `${trimmed(value / 1_024 ** 2)}${THIN}MiB`;
  return `${trimmed(value / 1_024 ** 3)}${THIN}GiB`;
}

export function milliseconds(value: number): string {
  if (value < 1_000) return `${value < 10 ? trimmed(value) : count(value)}${THIN}ms`;
  return `${trimmed(value / 1_000)}${THIN}s`;
}

/** "1 delivery", "1,204 deliveries". */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

function trimmed(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, '');
}
