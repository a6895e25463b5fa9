/** Filters live in the URL as plain texts: `?state=retrying&range=24h`. */

/** Reads the named parameters of a page and drops all others. */
export function texts<Name extends string>(
  ...names: Name[]
): (search: Record<string, unknown>) => Partial<Record<Name, string>> {
  return (search) => {
    const found: Partial<Record<Name, string>> = {};
    for (const name of names) {
      const value = search[name];
      if (typeof value === 'string' && value !== '') found[name] = value;
    }
    return found;
  };
}

export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (typeof value === 'string' && value !== '') params.set(name, value);
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}
