/** A request as text and as a curl command. Header values that Millrace does not show stay placeholders. Pure. */

import type { RebuiltRequest } from '@millrace/contract/control';

export type ShownRequest = Pick<RebuiltRequest['request'], 'url' | 'headers' | 'body' | 'isCut'>;

export function requestText({ url, headers, body }: ShownRequest): string {
  const { host, pathname, search } = URL.canParse(url) ? new URL(url) : { host: '', pathname: url, search: '' };
  const hasHost = headers.some(({ name }) => name.toLowerCase() === 'host');
  const lines = headers.map(({ name, value }) => `${name}: ${value ?? '•••••• set in the destination, not shown'}`);
  return [`POST ${pathname}${search} HTTP/1.1`, ...(hasHost ? [] : [`Host: ${host}`]), ...lines, '', body].join('\n');
}

/** curl sets the length and the host itself. */
const LEFT_TO_CURL = new Set(['host', 'content-length', 'connection', 'transfer-encoding']);

export function curlOf({ url, headers, body }: ShownRequest): string {
  const given = headers
    .filter(({ name }) => !LEFT_TO_CURL.has(name.toLowerCase()))
    .map(({ name, value }) => `  -H ${quoted(`${name}: ${value ?? '<set in the destination>'}`)}`);
  return [`curl -X POST ${quoted(url)}`, ...given, `  --data-binary ${quoted(body)}`].join(' \\\n');
}

/** In single quotes a shell reads nothing but the next single quote. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export function headerOf({ headers }: ShownRequest, name: string): string | undefined {
  return headers.find((header) => header.name.toLowerCase() === name)?.value ?? undefined;
}
