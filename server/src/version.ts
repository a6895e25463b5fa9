import { readFileSync } from 'node:fs';
import { PACKAGE_FILE } from './installed-files.ts';

/** The version of this server. */
export const VERSION = (JSON.parse(readFileSync(PACKAGE_FILE, 'utf8')) as { version: string }).version;
