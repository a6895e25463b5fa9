/**
 * Where the files are that are no code. The bundle of the published package has all code in one folder `dist`, with these files
 * beside it; a checkout has them in the workspaces.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGE_DIR = join(import.meta.dirname, '..');
const BUNDLED_CONSOLE = join(PACKAGE_DIR, 'console');

export const PACKAGE_FILE = join(PACKAGE_DIR, 'package.json');
export const MIGRATIONS_DIR = join(PACKAGE_DIR, 'migrations');
/** In a checkout it is where `npm run build` puts it. */
export const CONSOLE_DIR = existsSync(BUNDLED_CONSOLE) ? BUNDLED_CONSOLE : join(PACKAGE_DIR, '../console/dist');
