/** `millrace dev`: everything on this machine, with a made-up shop to look at. */
import { resolve } from 'node:path';
import process from 'node:process';
import { Command, InvalidArgumentError } from 'commander';
import { defaultDataDir } from '../dev/data-folder.ts';
import { EXIT_CODES } from '../output/exit-codes.ts';
import { withExamples } from '../output/example-of.ts';

type Flags = {
  data?: string;
  wipe?: true;
  json?: true;
  pglite?: true;
  shop: boolean;
  collectPort?: number;
  consolePort?: number;
  callsPerSecond: number;
};

export function devCommand(): Command {
  const command = new Command('dev')
    .description(
      'run everything on this machine: server, console, NATS, PostgreSQL and a made-up shop that sends events',
    )
    .option('--data <dir>', 'the folder for all data; ~/.millrace/dev when absent, /var/lib/millrace-dev for root')
    .option('--wipe', 'remove the data of earlier starts first')
    .option('--json', 'print one line of JSON when ready: ready, collectUrl, consoleUrl, token, writeKey')
    .option('--collect-port <port>', 'the port for calls; 8080 or another free one when absent', portNumber)
    .option('--console-port <port>', 'the port of console and API; 8081 or another free one when absent', portNumber)
    .option('--calls-per-second <number>', 'how much the made-up shop sends', callsPerSecond, 3)
    .option('--no-shop', 'leave the made-up shop out')
    .option('--pglite', 'use PGlite (PostgreSQL as WebAssembly) even where a real PostgreSQL is installed')
    .action(async ({ data, json, ...flags }: Flags) => {
      const [{ runDev }, { jsonScreen, textScreen }] = await Promise.all([
        import('../dev/run-dev.ts'),
        import('../dev/screen.ts'),
      ]);
      const { shop, callsPerSecond, collectPort, consolePort } = flags;
      const switches = { wipe: flags.wipe === true, pglite: flags.pglite === true, shop };
      const options = {
        data: resolve(data ?? defaultDataDir()),
        ...switches,
        callsPerSecond,
        collectPort,
        consolePort,
      };
      const wasReady = await runDev(options, json ? jsonScreen() : textScreen());
      // Idle connections of the demo's clients would keep the process for some more seconds.
      process.exit(wasReady ? EXIT_CODES.done.code : EXIT_CODES.interrupted.code);
    });
  return withExamples(
    command,
    { run: 'millrace dev', shows: 'prints the address of the console, an account, and a command that sends an event' },
    {
      run: 'millrace dev --data ./data --wipe --json',
      shows: 'begins anew; one line of JSON tells a script that it is ready',
    },
  );
}

function portNumber(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a number from 0 to 65535; 0 means any free one.');
}

function callsPerSecond(text: string): number {
  const number = Number(text);
  if (number > 0 && number <= 1_000) return number;
  throw new InvalidArgumentError('It is a number above 0 and at most 1000.');
}
