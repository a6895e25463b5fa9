/**
 * `npm run release`: everything of a release.
 *
 *   npm run release -- get        gets the programs that build and check a release: podman, hadolint, check-jsonschema
 */
import process from 'node:process';
import { getTools } from './image/get-tools.ts';
import { ownPlatform } from './image/platforms.ts';
import { getPythonTools } from './python-tools.ts';

const [command] = process.argv.slice(2);
switch (command) {
  case 'get':
    getTools([ownPlatform()]);
    getPythonTools();
    break;
  default:
    process.stderr.write('usage: npm run release -- get\n');
    process.exitCode = 2;
}
