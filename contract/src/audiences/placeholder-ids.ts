/** Texts that programs send for "no id": taken as one, they would put thousands of people into one profile. */
const PLACEHOLDERS = new Set([
  '-1',
  'null',
  'nil',
  'none',
  'undefined',
  'nan',
  'unknown',
  'anonymous',
  'n/a',
  '(not set)',
  '[object object]',
]);
const ZEROES_AND_DASHES = /^[0\s-]*$/;

/** Whether a userId, anonymousId, previousId or groupId names nothing. The event itself is collected and delivered as ever. */
export function isPlaceholderId(id: string): boolean {
  if (id.length > 64) return ZEROES_AND_DASHES.test(id);
  return ZEROES_AND_DASHES.test(id) || PLACEHOLDERS.has(id.trim().toLowerCase());
}
