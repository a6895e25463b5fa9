/** "a", "a and b", "a, b and c"; names beyond `most` are counted. */
export function listed(words: readonly string[], most = 4): string {
  const named = words.length > most ? [...words.slice(0, most - 1), `${words.length - most + 1} more`] : [...words];
  const last = named.pop() ?? '';
  return named.length === 0 ? last : `${named.join(', ')} and ${last}`;
}
