/**
 * Counts objects and arrays as levels, the value itself as the first. It never goes further down than asked, so a
 * value nested a million times is as safe as a flat one.
 */
export function isDeeperThan(value: object, levels: number): boolean {
  if (levels === 0) return true;
  return Array.isArray(value) ? isArrayDeeper(value, levels - 1) : isObjectDeeper(value, levels - 1);
}

function isArrayDeeper(items: readonly unknown[], levels: number): boolean {
  for (const item of items) {
    if (typeof item === 'object' && item !== null && isDeeperThan(item, levels)) return true;
  }
  return false;
}

/** for-in, because it makes no array of keys or values; parsed JSON has no inherited keys to skip. */
function isObjectDeeper(fields: object, levels: number): boolean {
  for (const key in fields) {
    const value: unknown = fields[key as keyof typeof fields];
    if (typeof value === 'object' && value !== null && isDeeperThan(value, levels)) return true;
  }
  return false;
}
