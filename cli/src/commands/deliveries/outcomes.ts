/** `millrace outcomes`: writes the outcomes of deliveries as lines of JSON, for other programs. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import type { Command } from 'commander';
import { followOutcomes } from '../../api/outcomes.ts';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { EXIT_CODES } from '../../output/exit-codes.ts';
import { printJsonLine } from '../../output/print.ts';
import { apiCommand, type JsonOption } from '../api-command.ts';
import { readCount } from '../read-count.ts';

type OutcomesOptions = ServerOptions & JsonOption & { cursor?: string; cursorFile?: string; limit?: string };

export function outcomesCommand(): Command {
  const command = apiCommand(
    'outcomes',
    'write outcomes of deliveries as they are recorded, as lines of JSON, until Ctrl-C',
  )
    .option('--cursor <cursor>', 'go on after the line with this cursor')
    .option('--cursor-file <file>', 'go on after the line in this file, and keep the file up to date')
    .option('--limit <count>', 'stop after so many outcomes')
    .action(follow);
  return withExamples(
    command,
    {
      run: 'millrace outcomes --limit 1',
      shows: 'the first line has the cursor to begin from, every other line is one outcome with its own',
    },
    {
      run: 'millrace outcomes --cursor-file outcomes.cursor --limit 1 >> outcomes.ndjson',
      shows: 'started again, it goes on where it ended, and misses none',
    },
  );
}

async function follow(options: OutcomesOptions): Promise<void> {
  const most = options.limit === undefined ? Infinity : readCount('--limit', options.limit);
  const control = await connect(options);
  const { cursorFile } = options;
  const life = new AbortController();
  const stop = () => {
    process.exitCode = EXIT_CODES.interrupted.code;
    life.abort();
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const cursor = options.cursor ?? (cursorFile === undefined ? undefined : readCursor(cursorFile));
  let seen = 0;
  for await (const line of followOutcomes(control, { cursor, signal: life.signal })) {
    printJsonLine(line);
    if (cursorFile !== undefined) keepCursor(cursorFile, line.cursor);
    if (line.kind !== 'open') seen += 1;
    if (seen >= most) break;
  }
  process.off('SIGINT', stop).off('SIGTERM', stop);
}

function readCursor(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

/** After the line is written: a program that dies in between gets the line again. */
function keepCursor(file: string, cursor: string): void {
  writeFileSync(`${file}.new`, `${cursor}\n`);
  renameSync(`${file}.new`, file);
}
