import { join } from 'node:path';

/** A program of this folder, for a process of its own: bundled as the test is, where it is (`scripts/bundle-tests.ts`). */
export function childProgram(file: string): string {
  // oxlint-disable-next-line node/no-process-env -- the bundle sets it
  const bundled = process.env['MILLRACE_TESTS'];
  return bundled === undefined
    ? join(import.meta.dirname, file)
    : join(bundled, 'server/testing', file.replace(/\.ts$/, '.js'));
}
