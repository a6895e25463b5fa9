/**
 * The kind of browser that a user agent names: its family without version and system, which change under a session (an upgrade, "request
 * desktop site"). A program is named by its first word: `curl`, `node`.
 */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:HeadlessChrome|Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const MAX_LENGTH = 40;

export function browserOf(userAgent: string): string {
  const family = FAMILIES.find(([pattern]) => pattern.test(userAgent))?.[1];
  return family ?? (/^[^\s/;(]*/.exec(userAgent)?.[0] ?? '').slice(0, MAX_LENGTH);
}
