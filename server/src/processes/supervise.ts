/**
 * The process that `millrace start` is when MILLRACE_PROCESSES is more than one. It plays no role: it starts the children that do, replaces
 * those that end, serves the metrics of all on one port, and takes the signals for all.
 *
 * All children accept from one listening socket, which stays open in this process while one of them uses it. So no connection that waits to be
 * accepted is lost when a child leaves; when the last one dies, they are.
 */
import cluster from 'node:cluster';
import { CHILD_END_MS } from '../limits/stop-times.ts';
import type { Logger } from '../log.ts';
import { type MetricsSettings, serveMetrics } from '../metrics/serve-metrics.ts';
import { type Crew, type CrewNeeds, openCrew } from './open-crew.ts';

export type SupervisorNeeds = Pick<CrewNeeds, 'plan' | 'drainMs' | 'watchEveryMs'> & {
  settings: MetricsSettings;
  /** Flags of Node for the children, beside those of this process. */
  childFlags?: readonly string[];
  endMs?: number;
  /** The first signal to stop. */
  stopped: Promise<NodeJS.Signals>;
  log: Logger;
};

/** Resolves with the exit code when all children have ended. */
export async function supervise({
  settings,
  childFlags = [],
  endMs = CHILD_END_MS,
  stopped,
  ...needs
}: SupervisorNeeds): Promise<number> {
  const { plan, log } = needs;
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ execArgv: [...process.execArgv, ...childFlags] });
  await using open = new AsyncDisposableStack();
  const crew = open.use(openCrew({ ...needs, endMs }));
  // At once: without a listener this signal would end the supervisor.
  process.on('SIGHUP', () => void crew.renew());
  open.use(crew.metrics.watchProcess());
  open.use(await serveMetrics({ settings, metrics: crew.metrics, look: crew.look, log }));
  log.info({ processes: plan.length, roles: plan }, 'supervisor.started');
  const why = await Promise.race([stopped, crew.refused]);
  log.info(typeof why === 'string' ? { signal: why } : { code: why }, 'server.stopping');
  endAtSecondSignal(crew);
  await crew.stop();
  return typeof why === 'string' ? 0 : why;
}

/** Nothing is lost: a child acknowledges nothing before it is stored. */
function endAtSecondSignal(crew: Crew): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.removeAllListeners(signal);
    process.once(signal, () => {
      crew.kill();
      process.kill(process.pid, signal);
    });
  }
}
