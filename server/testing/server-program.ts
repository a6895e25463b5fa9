import { join } from 'node:path';
import { ROOT_DIR } from '@millrace/engines';

/** Node starts the server from its sources, or from the bundle that `MILLRACE_BUNDLE` names, which takes half the processor time. */
// oxlint-disable-next-line node/no-process-env -- a setting of the test run
export const SERVER: readonly string[] = bundled(process.env['MILLRACE_BUNDLE']) ?? [
  join(ROOT_DIR, 'server/src/main.ts'),
];

function bundled(dir: string | undefined): string[] | undefined {
  return dir === undefined ? undefined : [join(dir, 'bin/millrace.cjs'), 'start'];
}
