/** `millrace dead-letters`: deliveries that were given up, and sending them again. */
import type { DeadLetterDetails as DetailsSchema, DeadLetterItem } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { counted } from '@millrace/console/format/numbers';
import { type Command, Option } from 'commander';
import type { Control } from '../../api/control.ts';
import { findDestination } from '../../api/find-named.ts';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { inline, jsonText, print, printJson } from '../../output/print.ts';
import { confirm } from '../../output/prompt.ts';
import { printFacts, printTable } from '../../output/table.ts';
import { readTime, timeText } from '../../output/times.ts';
import { apiCommand, groupCommand, type JsonOption } from '../api-command.ts';
import { readCount } from '../read-count.ts';
import { type Job, type JobKind, tellJob, waitForJob } from './jobs.ts';

const KIND: JobKind = { path: '/redrives', word: 'redrive', command: 'dead-letters', example: '' };
const REASONS = ['discarded', 'expired', 'lane_full'];

type Options = ServerOptions & JsonOption;
type FilterOptions = Options & { destination?: string; reason?: string; since?: string; until?: string };
type Details = Static<typeof DetailsSchema>;

export function deadLettersCommand(): Command {
  const group = groupCommand('dead-letters', 'look at deliveries that were given up, and send them again', [
    showCommand(),
    retryCommand(),
    redriveCommand(),
  ]);
  return group.addCommand(listCommand(), { isDefault: true });
}

function withFilters(command: Command): Command {
  return command
    .option('--destination <name>', 'only of this destination')
    .addOption(new Option('--reason <reason>', 'only given up for this reason').choices(REASONS))
    .option('--since <time>', 'given up at or after: a time, or a distance such as 1d')
    .option('--until <time>', 'given up before');
}

async function filterOf(control: Control, options: FilterOptions) {
  const { destination, reason, since, until } = options;
  return {
    ...(destination === undefined ? {} : { destinationId: (await findDestination(control, destination)).id }),
    ...(reason === undefined ? {} : { reason }),
    ...(since === undefined ? {} : { from: readTime(since, '--since') }),
    ...(until === undefined ? {} : { to: readTime(until, '--until') }),
  };
}

function listCommand(): Command {
  const command = withFilters(apiCommand('list', 'list dead letters, by destination and then oldest first'))
    .option('--limit <count>', 'at most so many', '50')
    .action(async (options: FilterOptions & { limit: string }) => {
      const most = readCount('--limit', options.limit);
      const control = await connect(options);
      const filter = await filterOf(control, options);
      const items = await Array.fromAsync(control.list<DeadLetterItem>('/dead-letters', filter, most));
      if (options.json) return printJson({ items });
      const columns = [
        { title: 'ID', of: ({ id }: DeadLetterItem) => id, isWhole: true as const },
        { title: 'GIVEN UP', of: ({ deadAt }: DeadLetterItem) => timeText(deadAt) },
        { title: 'REASON', of: ({ reason }: DeadLetterItem) => reason },
        { title: 'TYPE', of: ({ type }: DeadLetterItem) => type },
        { title: 'ATTEMPTS', of: ({ attempts }: DeadLetterItem) => String(attempts), isNumber: true as const },
        { title: 'DELIVERY', of: ({ deliveryId }: DeadLetterItem) => deliveryId, isWhole: true as const },
      ];
      printTable(columns, items, 'There is no dead letter.');
    });
  return withExamples(command, {
    run: 'millrace dead-letters list --destination refusing --since 1d',
    shows: 'each one with its reason and delivery',
  });
}

function showCommand(): Command {
  const command = apiCommand('show <letter>', 'show a dead letter with its event and its latest attempts').action(
    async (id: string, options: Options) => {
      const control = await connect(options);
      const letter = await control.ask<Details>('GET', `/dead-letters/${encodeURIComponent(id)}`);
      if (options.json) return printJson(letter);
      printFacts([
        ['Dead letter', letter.id],
        ['Given up', `${timeText(letter.deadAt)} (${letter.reason})`],
        ['Delivery', letter.deliveryId],
        ['Attempts', String(letter.attempts)],
        ...letter.history.flatMap(({ at, answers }) =>
          answers.map(({ url, status, error }) => ['', `${timeText(at)}  ${url}: ${status ?? error ?? ''}`] as const),
        ),
      ]);
      print(jsonText(letter.event, 2));
    },
  );
  return withExamples(command, {
    run: 'millrace dead-letters show "$DEAD_LETTER"',
    shows: 'the event and the answers',
  });
}

function retryCommand(): Command {
  const command = apiCommand(
    'retry <letter...>',
    'deliver dead letters again, with a new four hours of retries',
  ).action(async (ids: string[], options: Options) => {
    const control = await connect(options);
    const items: { deliveryId: string }[] = [];
    for (const id of ids) {
      const answer = await control.ask<{ deliveryId: string }>('POST', `/dead-letters/${encodeURIComponent(id)}/retry`);
      items.push(answer);
      if (!options.json) print(`${inline(id)}: sent again as ${answer.deliveryId}, its webhook-id as before.`);
    }
    if (options.json) printJson({ items });
  });
  return withExamples(command, { run: 'millrace dead-letters retry "$DEAD_LETTER"', shows: 'its delivery' });
}

type RedriveOptions = FilterOptions & { rate?: string; wait: boolean; yes?: true; dryRun?: true };
const MOST_COUNTED = 1_000;

function redriveCommand(): Command {
  const command = withFilters(apiCommand('redrive', 'deliver all dead letters that match again'))
    .option('--rate <count>', 'most deliveries a second')
    .option('--dry-run', 'only count them')
    .option('--yes', 'do not ask')
    .option('--no-wait', 'do not wait for the end')
    .action(redrive);
  return withExamples(
    command,
    { run: 'millrace dead-letters redrive --destination refusing --dry-run', shows: 'how many it would send again' },
    {
      run: 'millrace dead-letters redrive --destination refusing --yes',
      shows: 'sends them, with progress until the end',
    },
  );
}

async function redrive(options: RedriveOptions): Promise<void> {
  const rate = options.rate === undefined ? {} : { ratePerSecond: readCount('--rate', options.rate) };
  const control = await connect(options);
  const filter = await filterOf(control, options);
  if (options.dryRun || options.yes !== true) {
    const letters = await Array.fromAsync(control.list('/dead-letters', filter, MOST_COUNTED));
    const many = `${letters.length === MOST_COUNTED ? 'At least ' : ''}${counted(letters.length, 'dead letter')}`;
    if (options.dryRun)
      return options.json
        ? printJson({ count: letters.length, isExact: letters.length < MOST_COUNTED })
        : print(`${many} would be sent again.`);
    await confirm(`${many} would be sent again; a target that took the event before does not get it twice.`, options);
  }
  const job = await control.ask<Job>('POST', '/dead-letters/redrive', { body: { ...filter, ...rate } });
  tellJob(options.wait ? await waitForJob(control, KIND, job.id) : job, KIND, options);
}
