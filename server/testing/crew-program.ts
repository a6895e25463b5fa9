/**
 * A supervisor whose children play no role, so that it starts at once and needs no engine. A child does as the file `conduct` says at its
 * start: `work`, `crash`, `refuse` the settings, `start` for ever, or `stay` when it should end. With `half` the first child crashes when it
 * collects and delivers, and the other one works. While the file says `load`, a child does not listen to its supervisor yet.
 */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { getHeapStatistics } from 'node:v8';
import { openLog } from '../src/log.ts';
import { openChannel } from '../src/processes/open-channel.ts';
import { CHILD_VARIABLE, type ChildPlan } from '../src/processes/start-child.ts';
import { nextStopSignal } from '../src/processes/stop-signal.ts';
import { supervise } from '../src/processes/supervise.ts';
import { EX_CONFIG } from '../src/processes/talk.ts';
import { until } from './until.ts';

// oxlint-disable-next-line node/no-process-env -- the settings of this program
const { env } = process;
const log = openLog({ level: 'info', pretty: false });
const settings = { host: '127.0.0.1', port: Number(env['CREW_METRICS_PORT']) };
/** The kernel starts no process with a variable of this length. */
const TOO_LONG = 'x'.repeat(200_000);

async function superviseTwo(): Promise<number> {
  process.on('SIGUSR2', () => {
    if (env['CREW_FILLER'] === undefined) env['CREW_FILLER'] = TOO_LONG;
    else delete env['CREW_FILLER'];
    log.info({ canFork: env['CREW_FILLER'] === undefined }, 'crew.filled');
  });
  process.on('SIGCONT', () => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.emit('error', new Error('write EPIPE'));
    log.info({}, 'crew.troubled');
  });
  const plan = [['collect'], ['collect']];
  const watchEveryMs = Number(env['CREW_WATCH_EVERY_MS']);
  const endMs = Number(env['CREW_END_MS']);
  const childFlags = ['--max-old-space-size=300'];
  return supervise({ plan, settings, drainMs: 0, endMs, childFlags, stopped: nextStopSignal(), watchEveryMs, log });
}

const readConduct = () => readFileSync(env['CREW_CONDUCT'] ?? '', 'utf8');

async function beChild(): Promise<number> {
  await until(() => !['', 'load'].includes(readConduct()));
  using channel = openChannel(Number(env['CREW_DRAIN_MS']));
  const conduct = readConduct();
  const { number } = JSON.parse(env[CHILD_VARIABLE] ?? '') as ChildPlan;
  if (conduct === 'crash') return 1;
  if (conduct === 'refuse') return EX_CONFIG;
  const heapMib = Math.round(getHeapStatistics().heap_size_limit / 2 ** 20);
  const text = `# HELP up Up\n# TYPE up gauge\nup 1\n# HELP heap Heap\n# TYPE heap gauge\nheap ${heapMib}\n`;
  const metrics = { contentType: 'text/plain', text: async () => text };
  await channel.serve({ settings, metrics, look: () => ({ reasons: [], missing: [] }), log });
  const server = createServer((_, response) => response.end(conduct)).listen(Number(env['CREW_PORT']), '127.0.0.1');
  await once(server, 'listening');
  channel.tellServes();
  const isFailing = conduct === 'half' && number === 1;
  if (conduct !== 'start' && !isFailing) channel.tellReady();
  if (!isFailing) log.info({ conduct, order: await channel.ordered }, 'crew.ordered');
  if (conduct === 'stay') await once(server, 'close');
  server.close();
  server.closeAllConnections();
  return isFailing ? 1 : 0;
}

process.exitCode = await (cluster.isPrimary ? superviseTwo() : beChild());
process.channel?.unref();
