/**
 * `millrace start` and `npm start`: plays the roles that the settings name until a signal ends the process. With more than one process it
 * supervises children instead, each of which runs this program again.
 */
import cluster from 'node:cluster';
import { type Config, readConfig, type Role } from './config.ts';
import { type Logger, openLog } from './log.ts';
import { END_MS } from './limits/stop-times.ts';
import { openRoleSet } from './processes/open-role-set.ts';
import { EX_CONFIG } from './processes/talk.ts';
import { type Channel, openChannel } from './processes/open-channel.ts';
import { planRoles } from './processes/plan-processes.ts';
import { supervise } from './processes/supervise.ts';
import { nextStopSignal } from './processes/stop-signal.ts';

/** Resolves with the exit code when everything is stopped. */
export async function runServer(): Promise<number> {
  try {
    return await run();
  } finally {
    // The channel to a supervisor would keep a process alive that has nothing left to do.
    process.channel?.unref();
  }
}

async function run(): Promise<number> {
  const read = readConfig();
  if (!read.ok) {
    console.error(`Millrace cannot start:\n${read.problems.map((problem) => `  ${problem}`).join('\n')}`);
    return EX_CONFIG;
  }
  const { logLevel: level, roles, processes, child, childFlags, metrics: settings, collect } = read.value;
  if (child !== undefined) {
    using channel = openChannel(collect.drainMs);
    const own = { ...read.value, roles: child.roles as Role[] };
    return await play(own, openLog({ level, pretty: false, process: child.number }), channel);
  }
  const log = openLog({ level, pretty: false });
  const plan = planRoles(roles, processes);
  // A process manager that uses node:cluster itself has its own idea of how many there are.
  if (plan.length === 1 || cluster.isWorker) {
    // Without a supervisor no other process takes over its ports first. So it drains, and the process manager starts it again with new settings.
    return play(read.value, log, { ordered: nextStopSignal('SIGHUP') });
  }
  return supervise({ plan, settings, drainMs: collect.drainMs, childFlags, stopped: nextStopSignal(), log });
}

/** The reason to end: a signal, or the order of a supervisor. */
type Orders = { ordered: Promise<string> } & Partial<Pick<Channel, 'serve' | 'tellServes' | 'tellReady'>>;

async function play(config: Config, log: Logger, { ordered, serve, tellServes, tellReady }: Orders): Promise<number> {
  try {
    // Not above: a supervisor plays no role, and stays small without their code.
    const { startRoles } = await import('./start-roles.ts');
    const roles = openRoleSet();
    const starting = startRoles(config, log, { serve, roles, serving: tellServes });
    const running = await Promise.race([starting, ordered]);
    if (typeof running !== 'string') tellReady?.();
    const signal = await ordered;
    log.info({ signal }, 'server.stopping');
    endInTime(config, log);
    if (signal === 'retire') roles.handOver();
    if (typeof running !== 'string') {
      await running[Symbol.asyncDispose]();
      return 0;
    }
    // Roles that are open already have accepted requests. The rest of the start may wait for ever, for example for NATS.
    await roles.stop();
    return process.exit(0);
  } catch (error) {
    log.fatal({ error: error instanceof Error ? error.message : String(error) }, 'server.failed');
    return 1;
  }
}

/** The promise of `END_MS`, also when an engine does not answer or a part of us has a fault. A kill would come next, without a word in the log. */
function endInTime({ collect }: Config, log: Logger): void {
  const withinMs = collect.drainMs + END_MS;
  const giveUp = () => {
    log.error({ withinMs }, 'server.stopped_late');
    process.exit(1);
  };
  setTimeout(giveUp, withinMs).unref();
}
