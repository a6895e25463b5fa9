/** `millrace tail`: the calls of a source while they come in, and their outcomes. */
import process from 'node:process';
import type { Destination } from '@millrace/contract/control';
import { type Command, Option } from 'commander';
import { CALL_TYPES } from '@millrace/contract';
import { counted } from '@millrace/console/format/numbers';
import { findSource } from '../../api/find-named.ts';
import { findServer, openChosen, type ServerOptions } from '../../api/server-options.ts';
import { tailSource, type TailItem } from '../../api/tail.ts';
import { withExamples } from '../../output/example-of.ts';
import { EXIT_CODES } from '../../output/exit-codes.ts';
import { Failure } from '../../output/failures.ts';
import { inline, printJsonLine, print, remark } from '../../output/print.ts';
import { apiCommand, type JsonOption } from '../api-command.ts';
import { canView, openView } from '../../view/open-view.ts';
import { tailLine } from './tail-line.ts';
import { openTailView } from './tail-view.ts';

type TailOptions = ServerOptions &
  JsonOption & {
    source: string;
    type?: string;
    event?: string;
    user?: string;
    limit?: string;
    outcomes: boolean;
    view: boolean;
  };

export function tailCommand(): Command {
  const command = apiCommand('tail', 'show the calls of a source while they come in, until Ctrl-C')
    .requiredOption('--source <name>', 'the source, by name or id')
    .addOption(new Option('--type <type>', 'only calls of this type').choices([...CALL_TYPES]))
    .option('--event <name>', 'only this track event, page or screen')
    .option('--user <id>', 'only calls of this user')
    .option('--limit <count>', 'stop after so many calls')
    .option('--no-outcomes', 'leave out the outcomes of deliveries')
    .option('--no-view', 'print lines where a terminal would show the full-screen view')
    .action(tail);
  return withExamples(
    command,
    {
      run: 'millrace tail --source web --type track --limit 1',
      shows: 'one line for each call, with the answer of each destination below it; here for the first call',
    },
    {
      run: 'millrace tail --source web --json --limit 1 > calls.ndjson',
      shows: 'one JSON object a line, for other programs',
    },
  );
}

async function tail(options: TailOptions): Promise<void> {
  const most = readLimit(options.limit);
  const chosen = await findServer(options);
  const control = openChosen(chosen, options);
  const source = await findSource(control, options.source);
  const destinations = await Array.fromAsync(control.list<Destination>('/destinations', { sourceId: source.id }));
  const names = new Map(destinations.map(({ id, name }) => [id, name]));
  const life = new AbortController();
  const stop = () => {
    process.exitCode = EXIT_CODES.interrupted.code;
    life.abort();
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const filter = {
    ...(options.type === undefined ? {} : { type: options.type }),
    ...(options.event === undefined ? {} : { event: options.event }),
    ...(options.user === undefined ? {} : { userId: options.user }),
  };
  const isViewed = !options.json && options.view && most === Infinity && canView();
  using view = isViewed
    ? openView({ header: { title: `millrace tail  ${inline(source.name)}`, lines: [] } })
    : undefined;
  const collect = chosen.collect ?? 'http://localhost:8080';
  const look = view && openTailView({ view, source: inline(source.name), names, collect });
  void view?.ended.then((how) => (how === 'interrupted' ? stop() : life.abort()));
  let shown = 0;
  for await (const item of tailSource(control, source.id, filter, life.signal)) {
    if (item.kind === 'outcome' && !options.outcomes) continue;
    if (look !== undefined) {
      look(item);
      continue;
    }
    if (tellState(item, source.name)) continue;
    if (options.json) printJsonLine(item);
    else print(tailLine(item, names));
    if (item.kind === 'accepted' || item.kind === 'refused') shown += 1;
    if (shown >= most) break;
  }
  process.off('SIGINT', stop).off('SIGTERM', stop);
}

/** The state of the stream, and that some calls were left out, go to standard error. */
function tellState(item: TailItem, name: string): boolean {
  switch (item.kind) {
    case 'connected':
      if (item.isAgain) remark('Connected again. Calls in between are not shown; they are stored as always.');
      return true;
    case 'open':
      remark(`Tail of ${inline(name)}, at most ${item.maxPerSecond} events a second. Ctrl-C ends it.`);
      return true;
    case 'lost':
      remark(`Not connected: ${inline(item.why)}. Next try in ${Math.round(item.waitMs / 100) / 10} s.`);
      return true;
    case 'sampled':
      remark(
        `Sampled: ${counted(item.leftOut, 'event')} of the last second not shown. Narrow it with --type, --event or --user.`,
      );
      return true;
    default:
      return false;
  }
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return Infinity;
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new Failure(`--limit ${text} is no number of calls.`, { exit: 'usage', todo: 'Give one such as 10.' });
}
