/** Only a path of this console: a link to the sign-in page must not lead elsewhere. */
export function ownPath(path: string | undefined): string {
  return path !== undefined && /^\/(?![/\\])/.test(path) && !path.startsWith('/sign-in') ? path : '/';
}
