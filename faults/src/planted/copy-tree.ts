import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectFiles } from '../../../scripts/project-files.ts';

/** The packages of other people are shared with the tree; our own are those of the copy. */
const OWN_PACKAGES = '@millrace';

/** A copy of the project's files in which a check can run: bugs are planted there, never in the tree itself. */
export function copyTree(from: string, to: string): Disposable & { dir: string } {
  rmSync(to, { recursive: true, force: true });
  for (const file of projectFiles()) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    copyFileSync(join(from, file), join(to, file));
  }
  linkEach(join(from, 'node_modules'), join(to, 'node_modules'));
  const own = join(to, 'node_modules', OWN_PACKAGES);
  rmSync(own);
  mkdirSync(own);
  for (const name of ['contract', 'engines', 'server', 'console', 'e2e', 'faults', 'bench'])
    symlinkSync(join(to, name), join(own, name));
  symlinkSync(join(from, '.engines'), join(to, '.engines'));
  if (existsSync(join(from, 'cli/node_modules')))
    symlinkSync(join(from, 'cli/node_modules'), join(to, 'cli/node_modules'));
  return {
    dir: to,
    [Symbol.dispose]() {
      rmSync(to, { recursive: true, force: true });
    },
  };
}

function linkEach(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) symlinkSync(join(from, name), join(to, name));
}
