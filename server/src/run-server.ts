/** `millrace start` and `npm start`: plays the roles that the settings name until a signal ends the process. */
import { readConfig } from './config.ts';
import { openLog } from './log.ts';
import { nextStopSignal, startRoles } from './start-roles.ts';

/** The exit code of sysexits.h for a configuration error: a supervisor need not try again. */
const EX_CONFIG = 78;

/** Resolves with the exit code when everything is stopped. */
export async function runServer(): Promise<number> {
  const read = readConfig();
  if (!read.ok) {
    console.error(`Millrace cannot start:\n${read.problems.map((problem) => `  ${problem}`).join('\n')}`);
    return EX_CONFIG;
  }
  const log = openLog({ level: read.value.logLevel, pretty: false });
  const stopped = nextStopSignal();
  try {
    const starting = startRoles(read.value, log);
    const running = await Promise.race([starting, stopped]);
    // A signal during the start: nothing has been accepted yet, so there is nothing to finish.
    if (typeof running === 'string') process.exit(0);
    await using _ = running;
    log.info({ signal: await stopped }, 'server.stopping');
    return 0;
  } catch (error) {
    log.fatal({ error: error instanceof Error ? error.message : String(error) }, 'server.failed');
    return 1;
  }
}
