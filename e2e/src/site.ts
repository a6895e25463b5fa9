import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { serve, type Served } from './serve.ts';

/** Where the content of a path is found; `fill` gives the values of a page's {{names}}. */
export type SiteFile = { file: string; fill?: Record<string, string> };

const CONTENT_TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' };

/** A customer's web site with a browser library: on an origin of its own, so that its calls need CORS. */
export function serveSite(find: (path: string) => SiteFile | undefined): Promise<Served> {
  return serve(async ({ url = '/' }, answer) => {
    const found = find(url);
    const content = found && (await read(found).catch(() => undefined));
    const contentType = CONTENT_TYPES[extname(found?.file ?? '')] ?? 'application/octet-stream';
    answer.writeHead(content === undefined ? 404 : 200, { 'content-type': contentType });
    answer.end(content);
  });
}

async function read({ file, fill = {} }: SiteFile): Promise<string> {
  const content = await readFile(file, 'utf8');
  return Object.entries(fill).reduce((text, [name, value]) => text.replaceAll(`{{${name}}}`, value), content);
}
