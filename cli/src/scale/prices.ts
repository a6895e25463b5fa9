/** The prices that a cost is calculated with: a file that everyone can replace by their own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Prices = Record<Price, number> & { asOf: string; about: string; currency: string };
export type Price = (typeof PRICES)[number];

/** Of a core for an hour, a gigabyte of memory for an hour, a gigabyte of disk for a month, a gigabyte to another zone (both ends), a gigabyte to the internet. */
const PRICES = ['coreHour', 'memoryGbHour', 'diskGbMonth', 'zoneGb', 'internetGb'] as const;
const TEXTS = ['asOf', 'about', 'currency'] as const;

export const EXAMPLE_PRICES = join(import.meta.dirname, 'prices.json');

export type PricesRead = { ok: true; prices: Prices } | { ok: false; problem: string };

export function readPrices(file: string): PricesRead {
  try {
    return checkPrices(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Says everything that is wrong with a list at once. */
export function checkPrices(list: unknown): PricesRead {
  if (typeof list !== 'object' || list === null) return { ok: false, problem: 'it is no JSON object' };
  const given = new Map<string, unknown>(Object.entries(list));
  const isPrice = (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value >= 0;
  const problems = [
    ...PRICES.filter((name) => !isPrice(given.get(name))).map((name) => `${name} must be a number from 0 on`),
    ...TEXTS.filter((name) => typeof given.get(name) !== 'string').map((name) => `${name} must be a text`),
    ...[...given.keys()].filter((name) => !isKnown(name)).map((name) => `${name} is no price that is known`),
  ];
  if (problems.length > 0) return { ok: false, problem: problems.join(', ') };
  return { ok: true, prices: list as Prices };
}

function isKnown(name: string): boolean {
  return [...PRICES, ...TEXTS].some((known) => known === name);
}
