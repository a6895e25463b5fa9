/** Which source a release is made of: the version in package.json, the commit and its time. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT_DIR } from '@millrace/engines';
import { runProgram } from './run-program.ts';

export type SourceState = { version: string; revision: string /** Seconds since 1970. */; createdAt: number };

export function sourceState(): SourceState {
  const { version } = JSON.parse(readFileSync(join(ROOT_DIR, 'package.json'), 'utf8')) as { version: string };
  const [revision = '', seconds = '0'] = runProgram('git', ['log', '-1', '--format=%H %ct'], { cwd: ROOT_DIR })
    .trim()
    .split(' ');
  return { version, revision, createdAt: Number(seconds) };
}
