import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';

export const RECEIVERS_DIR = resolve(import.meta.dirname, '../../examples/receiving');

/** How a reader of docs/use/receiving.md starts its receivers. */
export const receiverCommand = {
  node: () => [process.execPath, join(RECEIVERS_DIR, 'node/receiver.js')],
  express: () => [process.execPath, join(RECEIVERS_DIR, 'node/express-receiver.js')],
  go(buildDir: string) {
    const program = join(buildDir, 'receiver');
    execFileSync('go', ['build', '-o', program, join(RECEIVERS_DIR, 'go/receiver.go')]);
    return [program];
  },
  python: () => ['python3', join(RECEIVERS_DIR, 'python/receiver.py')],
};
