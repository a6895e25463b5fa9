import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT_DIR = resolve(import.meta.dirname, '..');

/** The files of the project that fit a pattern, new ones too; not those that git ignores or that were deleted. */
export function projectFiles(...patterns: string[]): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', ...patterns];
  const files = execFileSync('git', args, { cwd: ROOT_DIR, encoding: 'utf8' }).split('\n');
  return files.filter((file) => file !== '' && existsSync(join(ROOT_DIR, file)));
}

/** Prints the problems that a check found; the check fails when there is one. */
export function report(problems: readonly string[]): void {
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
