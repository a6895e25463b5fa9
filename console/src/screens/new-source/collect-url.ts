/** The address that clients send calls to. */
const DEFAULT_PORT = '8080';

export type Setting = { name: string; value: string };

type Known = {
  /** Settings of the server, as far as this person may read them. */
  settings: readonly Setting[];
  /** The address of the console. */
  here: { protocol: string; hostname: string };
};

/** The setting of the installation; else the host of the console with the port of collect. */
export function guessCollectUrl({ settings, here }: Known): { url: string; isKnown: boolean } {
  const valueOf = (name: string) => settings.find((setting) => setting.name === name)?.value ?? '';
  const set = cleanUrl(valueOf('MILLRACE_COLLECT_URL'));
  if (set !== undefined) return { url: set, isKnown: true };
  const port = valueOf('MILLRACE_COLLECT_PORT') || DEFAULT_PORT;
  return { url: `${here.protocol}//${here.hostname}:${port}`, isKnown: false };
}

/** Only an address that can stand in a snippet as it is; without a slash at its end, as libraries add their own. */
export function cleanUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, host, pathname, search, hash, username } = new URL(text);
  if (!/^https?:$/.test(protocol) || search !== '' || hash !== '' || username !== '') return undefined;
  const path = pathname.replace(/\/+$/, '');
  return /['"`\\$<>]/.test(path) ? undefined : `${protocol}//${host}${path}`;
}
