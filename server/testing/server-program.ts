import { join } from 'node:path';
import { ROOT_DIR } from '@millrace/engines';

const BUNDLED = 'bin/millrace.cjs';
/** From the sources, or from the bundle that `MILLRACE_BUNDLE` names, which starts with half the processor time. */
export const MAIN = bundled() ?? join(ROOT_DIR, 'server/src/main.ts');

/** Node starts the server with these: that of this version, or another program that is named. */
export function serverArgs(main = MAIN): string[] {
  return main.endsWith(BUNDLED) ? [main, 'start'] : [main];
}

function bundled(): string | undefined {
  // oxlint-disable-next-line node/no-process-env -- a setting of the test run
  const dir = process.env['MILLRACE_BUNDLE'];
  return dir === undefined ? undefined : join(dir, BUNDLED);
}
