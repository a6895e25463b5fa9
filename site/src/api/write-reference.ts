import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT_DIR } from '../site-pages.ts';
import { readOpenApi } from './openapi.ts';
import { referencePage } from './reference-page.ts';

const DIR = join(ROOT_DIR, 'site/api');

/** Writes the pages as files, which git ignores: VitePress's search does not see the pages of its dynamic routes. */
export function writeReference(): void {
  const api = readOpenApi();
  for (const name of readdirSync(DIR)) if (name !== 'index.md') rmSync(join(DIR, name));
  for (const { name } of api.tags) writeFileSync(join(DIR, `${name}.md`), `${referencePage(api, name)}\n`);
}
