/**
 * Settings from files, so that secrets need not be in the environment, where `docker inspect`, crash reports and child processes see
 * them. One directory, one file for each setting, named as the setting: the form in which systemd (`LoadCredential=`), compose
 * (`secrets:`) and Kubernetes (a Secret as a volume) hand secrets to a process.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULTS, type Environment } from './read-setting.ts';

const DIR = 'MILLRACE_SECRETS_DIR';

/** Never repeats the content of a file in a problem. Files whose names do not begin with MILLRACE_ belong to the supervisor. */
export function readSecretsDir(env: Environment, problems: string[]): Environment {
  const dir = env[DIR] ?? '';
  if (dir === '') return {};
  const found: Record<string, string> = {};
  for (const name of namesIn(dir, problems)) {
    if (!(name in DEFAULTS) || name === DIR) {
      problems.push(`${DIR} holds the file ${name}, which is no setting: remove it or correct its name`);
    } else if (env[name] !== undefined) {
      problems.push(`${name} is set in the environment and by a file in ${DIR}: keep one of the two`);
    } else {
      found[name] = contentOf(join(dir, name), problems);
    }
  }
  return found;
}

function namesIn(dir: string, problems: string[]): string[] {
  try {
    return readdirSync(dir).filter((name) => name.startsWith('MILLRACE_'));
  } catch {
    problems.push(`${DIR} must be a directory that this process can read`);
    return [];
  }
}

/** Editors and `echo` end a file with a line break, which is no part of the secret. */
function contentOf(file: string, problems: string[]): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch {
    problems.push(`${DIR} holds a file that this process cannot read: ${file}`);
    return '';
  }
}
