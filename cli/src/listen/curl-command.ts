/** A request as a command for a shell. */
import type { Headers } from './entry.ts';

/** `keyVariable`: the variable of the shell that holds the write key. */
export type CurlRequest = { url: string; headers: Headers; user?: string; keyVariable?: string; body: string };

/** curl writes these itself. */
const OWN = new Set(['host', 'content-length', 'connection', 'transfer-encoding', 'accept-encoding']);

export function curlCommand({ url, headers, user, keyVariable, body }: CurlRequest): string {
  const given = headers.filter(([name]) => !OWN.has(name.toLowerCase()));
  const options = given.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  const key = keyVariable === undefined ? [] : [`-u "$${keyVariable}:"`];
  const basic = user === undefined ? key : [`-u ${quote(user)}`];
  return ['curl -i -X POST', quote(url), ...basic, ...options, `--data-binary ${quote(body)}`].join(' ');
}

/** Inside single quotes a shell reads every character as itself; a quote is written outside them. Control characters go by `$'…'`. */
function quote(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these would act on the terminal into which the command is pasted
  if (!/[\u0000-\u001f\u007f-\u009f]/.test(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const escaped = text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll("'", String.raw`\'`)
    // oxlint-disable-next-line no-control-regex -- as above
    .replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `$'${escaped}'`;
}
