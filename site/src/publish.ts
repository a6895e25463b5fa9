/**
 * `npm run docs:publish -- DIR`: builds the site of this release into its own folder of DIR, where the folders of earlier releases stay
 * as they are, and brings `versions.json` up to date. DIR is what the web server serves.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'vitepress';
import { ROOT_DIR } from './site-pages.ts';
import { folderOf, type Version, withRelease } from './versions.ts';

const LIST = 'versions.json';

export async function publish(dir: string, release: string): Promise<Version[]> {
  const versions = withRelease(readVersions(dir), release);
  const folder = folderOf(release);
  const outDir = join(dir, folder);
  rmSync(outDir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  await build(join(ROOT_DIR, 'site'), { base: `/${folder}/`, outDir });
  writeFileSync(join(dir, LIST), `${JSON.stringify(versions, null, 2)}\n`);
  writeFileSync(join(dir, 'index.html'), redirectTo(versions[0]?.path ?? '/'));
  return versions;
}

/** No list yet means that this is the first release; a list that cannot be read must not be replaced by a shorter one. */
function readVersions(dir: string): Version[] {
  let text: string;
  try {
    text = readFileSync(join(dir, LIST), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return JSON.parse(text) as Version[];
}

/** Readers without a release in their address get the newest one. */
function redirectTo(path: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=${path}">
<title>Millrace</title>
<a href="${path}">Millrace documentation</a>
</html>
`;
}

if (import.meta.main) {
  const [dir] = process.argv.slice(2);
  if (dir === undefined) {
    console.error('usage: npm run docs:publish -- DIR, the folder that the web server serves');
    process.exitCode = 2;
  } else {
    const { version } = JSON.parse(readFileSync(join(ROOT_DIR, 'package.json'), 'utf8')) as { version: string };
    const versions = await publish(resolve(dir), version);
    console.log(`${resolve(dir)} has the documentation of ${versions.map((each) => each.version).join(', ')}`);
  }
}
