/** The origin does not matter here: a path must not lead away from it. */
const OWN = 'https://console.invalid';

/** Only a path of this console: a link to the sign-in page must not lead elsewhere. Read as browsers read it. */
export function ownPath(path: string | undefined): string {
  if (path?.startsWith('/') !== true || !URL.canParse(path, OWN)) return '/';
  const { origin, pathname, search, hash } = new URL(path, OWN);
  const isOwn = origin === OWN && !pathname.startsWith('//') && !pathname.startsWith('/sign-in');
  return isOwn ? `${pathname}${search}${hash}` : '/';
}
