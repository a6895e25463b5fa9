/** The token of a link such as `https://…/join#token=mlr_…`: of its fragment, of the whole link, or alone. */
export function tokenOf(text: string): string {
  const given = text.trim();
  const named = /[#?&]token=([^&\s]+)/.exec(given)?.[1];
  if (named !== undefined) return named;
  return /^[\w-]+$/.test(given) ? given : '';
}
