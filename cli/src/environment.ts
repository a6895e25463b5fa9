/** The settings of the command line that come from the environment. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

export type Environment = {
  server: string | undefined;
  token: string | undefined;
  collect: string | undefined;
  writeKey: string | undefined;
  /** The folder of this person's settings for Millrace. */
  configDir: string;
};

// oxlint-disable-next-line node/no-process-env -- the environment of the person who runs the command
export function readEnvironment(env: NodeJS.ProcessEnv = process.env): Environment {
  const given = (name: string) => (env[name] === '' ? undefined : env[name]);
  return {
    server: given('MILLRACE_URL'),
    token: given('MILLRACE_TOKEN'),
    collect: given('MILLRACE_COLLECT_URL'),
    writeKey: given('MILLRACE_WRITE_KEY'),
    configDir: join(given('XDG_CONFIG_HOME') ?? join(homedir(), '.config'), 'millrace'),
  };
}

/** A variable of the environment that a file of settings refers to, as `${env:SHOP_SECRET}` does. */
// oxlint-disable-next-line node/no-process-env -- as above
export function variable(name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  return env[name] === '' ? undefined : env[name];
}
