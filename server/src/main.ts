import { readConfig } from './config.ts';
import { openLog } from './log.ts';
import { nextStopSignal, startRoles } from './start-roles.ts';

/** The exit code of sysexits.h for a configuration error: a supervisor need not try again. */
const EX_CONFIG = 78;

const read = readConfig();
if (!read.ok) {
  console.error(`Millrace cannot start:\n${read.problems.map((problem) => `  ${problem}`).join('\n')}`);
  process.exit(EX_CONFIG);
}
const log = openLog({ level: read.value.logLevel, pretty: false });
const stopped = nextStopSignal();
try {
  await using running = await startRoles(read.value, log);
  log.info({ signal: await stopped, port: running.collectPort }, 'server.stopping');
} catch (error) {
  log.fatal({ error: error instanceof Error ? error.message : String(error) }, 'server.failed');
  process.exitCode = 1;
}
