/** Node for the image: the version of `.node-version`, without debug symbols, with its licence. */
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT_DIR } from '@millrace/engines';
import { runProgram } from '../run-program.ts';
import { stripProgram } from './get-tools.ts';
import { type Platform, PLATFORMS } from './platforms.ts';

export const NODE_VERSION = readFileSync(join(ROOT_DIR, '.node-version'), 'utf8').trim();

/** The folder with bin/node and LICENSE; made once and then kept in `cacheDir`. */
export function getNode(platform: Platform, cacheDir: string): string {
  const node = join(cacheDir, `node-${NODE_VERSION}-${platform}`);
  if (existsSync(node)) return node;
  const work = `${node}.new`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(join(work, 'done/bin'), { recursive: true });
  runProgram('npm', ['pack', '--silent', `node-linux-${PLATFORMS[platform].npm}@${NODE_VERSION}`], { cwd: work });
  const [tarball = ''] = globSync('*.tgz', { cwd: work });
  runProgram('tar', ['-xzf', tarball], { cwd: work });
  runProgram(stripProgram(platform), ['-o', join(work, 'done/bin/node'), join(work, 'package/bin/node')]);
  copyFileSync(join(work, 'package/LICENSE'), join(work, 'done/LICENSE'));
  renameSync(join(work, 'done'), node);
  rmSync(work, { recursive: true });
  return node;
}
