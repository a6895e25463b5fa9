/**
 * `npm run dev`: the server with a demo source and a demo receiver; every event is shown when stored and when delivered.
 * `npm run dev -- --demo`: the server with a made-up shop that sends calls all the time, so that every screen has data.
 */
import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { openLog } from '../log.ts';
import { DEMO_KEY, DEMO_TOKEN } from '../secrets/demo-secrets.ts';
import { nextStopSignal } from '../processes/stop-signal.ts';
import { CALLS_PER_SECOND } from './shop/start-demo.ts';
import { showCalls } from './show-calls.ts';
import { showShop } from './show-shop.ts';

/** Everybody knows the demo's secrets, so only this machine may reach the server. */
const DEMO_SETTINGS = {
  MILLRACE_HOST: '127.0.0.1',
  MILLRACE_KEYS: `1:${DEMO_KEY.toString('base64')}`,
  MILLRACE_BOOTSTRAP_TOKEN: DEMO_TOKEN,
  // The demo receivers are here, and so are the receivers that people try out.
  MILLRACE_ALLOW_CIDRS: '127.0.0.0/8',
};
const MOST_CALLS_PER_SECOND = 1_000;

const { values: flags } = parseArgs({
  options: {
    demo: { type: 'boolean', default: false },
    'calls-per-second': { type: 'string', default: String(CALLS_PER_SECOND) },
    seed: { type: 'string', default: '1' },
  },
});
const callsPerSecond = Number(flags['calls-per-second']);
if (!(callsPerSecond > 0 && callsPerSecond <= MOST_CALLS_PER_SECOND)) {
  fail(`--calls-per-second must be a number above 0 and at most ${MOST_CALLS_PER_SECOND}`);
}
const seed = Number(flags.seed);
if (!Number.isSafeInteger(seed)) fail('--seed must be a whole number');

const read = readConfig(undefined, DEMO_SETTINGS);
if (!read.ok) fail(read.problems.join('\n'));
const config = { ...read.value, collect: { ...read.value.collect, drainMs: 0 } };
const log = openLog({ level: 'warn', pretty: true });
const stopped = nextStopSignal();

await using stack = new AsyncDisposableStack();
try {
  if (flags.demo) await showShop({ config, log, callsPerSecond, seed }, stack);
  else await showCalls({ config, log }, stack);
} catch (error) {
  const why = error instanceof Error ? error.message : String(error);
  fail(
    `${why}\nAre the engines there? \`scripts/engines up && eval "$(scripts/engines env)"\`, or \`npx millrace dev\`.`,
  );
}
await stopped;

/** A sentence instead of a stack trace: the reader is not the author. */
function fail(why: string): never {
  console.error(`Millrace cannot start: ${why}`);
  process.exit(1);
}
