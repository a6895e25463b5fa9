/**
 * The key under which an audience or a trait is sent: `Big Spenders (30 days)` becomes `big_spenders_30_days`. Accents and vowel
 * signs belong to their letters. Empty for a name without a letter or digit, which no definition may have.
 */
export function definitionKey(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '');
}
