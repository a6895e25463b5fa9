/** The settings of the server, as the operator's commands read them: from the environment, or from a file of the same form. */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { parseEnv } from 'node:util';
import { type Config, type ConfigRead, readConfig } from '@millrace/server/config';
import { Failure } from '../output/failures.ts';

export type SettingsOptions = { envFile?: string };

/** The help of the option, for every command that reads settings. */
export const ENV_FILE = [
  '--env-file <file>',
  'read settings (MILLRACE_…) from this file; the environment wins over it',
] as const;

/** Reads the settings, valid or not; `change` wins over everything. */
export function readSettings(options: SettingsOptions, change: Readonly<Record<string, string>> = {}): ConfigRead {
  return readConfig({ ...environmentOf(options), ...change });
}

export function environmentOf({ envFile }: SettingsOptions): NodeJS.Dict<string> {
  // oxlint-disable-next-line node/no-process-env -- the server's own reader gets the whole environment
  return { ...fileOf(envFile), ...process.env };
}

/** The settings of a command that cannot work without them. `MILLRACE_KEYS` is not needed: no command opens secrets. */
export function settingsOf(options: SettingsOptions, change: Readonly<Record<string, string>> = {}): Config {
  const read = readSettings(options, { MILLRACE_ROLES: 'collect', ...change });
  if (read.ok) return read.value;
  throw new Failure(`The settings are not valid:\n${read.problems.map((problem) => `  ${problem}`).join('\n')}`, {
    exit: 'config',
    todo: 'Correct them in the environment or in the file of --env-file: docs/run/settings.md lists all.',
  });
}

function fileOf(path: string | undefined): NodeJS.Dict<string> {
  if (path === undefined) return {};
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Failure(`The file ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      exit: 'usage',
      todo: 'Name a file of lines NAME=value in --env-file.',
    });
  }
}
