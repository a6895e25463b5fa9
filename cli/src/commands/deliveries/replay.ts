/** `millrace replay`: stored events of a source, delivered to one destination again. */
import type { Replay as ReplaySchema, ReplayPreview as PreviewSchema } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { CALL_TYPES } from '@millrace/contract';
import { count, counted } from '@millrace/console/format/numbers';
import type { Command } from 'commander';
import type { Control } from '../../api/control.ts';
import { findDestination } from '../../api/find-named.ts';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { inline, jsonText, print, printJson } from '../../output/print.ts';
import { confirm } from '../../output/prompt.ts';
import { readTime, timeText } from '../../output/times.ts';
import { apiCommand, groupCommand, type JsonOption } from '../api-command.ts';
import { readCount } from '../read-count.ts';
import {
  type Job,
  type JobKind,
  jobCommands,
  listJobs,
  skippedText,
  tellJob,
  tellStarted,
  waitForJob,
} from './jobs.ts';

const KIND: JobKind = { path: '/replays', word: 'replay', command: 'replay', example: '$REPLAY' };

type Replay = Static<typeof ReplaySchema>;
type Preview = Static<typeof PreviewSchema>;

export function replayCommand(): Command {
  const group = groupCommand('replay', 'deliver stored events of a source to a destination again', [
    createCommand(),
    ...jobCommands(KIND),
  ]);
  const columns = [
    { title: 'DESTINATION', of: (job: Job) => (job as Replay).asked.destinationId },
    { title: 'FROM', of: (job: Job) => timeText((job as Replay).asked.from) },
    { title: 'TO', of: (job: Job) => timeText((job as Replay).asked.to) },
  ];
  return group.addCommand(listJobs(KIND, columns, 'There was no replay yet.'), { isDefault: true });
}

type CreateOptions = ServerOptions &
  JsonOption & {
    destination: string;
    since: string;
    until?: string;
    type?: string[];
    event?: string[];
    user?: string[];
    rate?: string;
    dryRun?: true;
    watch?: true;
    yes?: true;
  };

function createCommand(): Command {
  const many = (value: string, before: string[] = []) => [...before, value];
  const command = apiCommand('create', 'count the events, ask, and start a replay')
    .requiredOption('--destination <name>', 'the destination that gets them, by name or id')
    .requiredOption('--since <time>', 'received at or after: a time, or a distance such as 2h')
    .option('--until <time>', 'received before; now unless given')
    .option('--type <type>', `only this type (${CALL_TYPES.join(', ')}); repeat it for more`, many)
    .option('--event <name>', 'only this track event; repeat it for more', many)
    .option('--user <id>', 'only events of this user; repeat it for more', many)
    .option('--rate <count>', 'most deliveries a second')
    .option('--dry-run', 'only count them, and show the first five')
    .option('--watch', 'wait for the end, with progress')
    .option('--yes', 'do not ask')
    .action(create);
  return withExamples(
    command,
    {
      run: 'millrace replay create --destination orders --since 2h --dry-run',
      shows: 'how many events it would deliver',
    },
    {
      run: 'millrace replay create --destination orders --since 2h --event "Order Completed" --rate 100 --yes --watch',
      shows: 'starts it without a question, and waits for its end',
    },
  );
}

async function create(options: CreateOptions): Promise<void> {
  const control = await connect(options);
  const { id: destinationId, name, sourceId } = await findDestination(control, options.destination);
  const filter = {
    ...(options.type === undefined ? {} : { types: options.type }),
    ...(options.event === undefined ? {} : { events: options.event }),
    ...(options.user === undefined ? {} : { userIds: options.user }),
  };
  const range = {
    sourceId,
    destinationId,
    from: readTime(options.since, '--since'),
    to: options.until === undefined ? new Date().toISOString() : readTime(options.until, '--until'),
    ...(Object.keys(filter).length === 0 ? {} : { filter }),
  };
  const rate = options.rate === undefined ? {} : { ratePerSecond: readCount('--rate', options.rate) };
  const preview = await control.ask<Preview>('POST', '/replays/preview', { body: range });
  if (options.dryRun) return options.json ? printJson(preview) : tellPreview(preview, name);
  if (options.yes !== true) tellPreview(preview, name);
  await confirm(`The receiver may see events twice; each keeps its webhook-id.`, { yes: options.yes === true });
  await start(control, { ...range, ...rate }, preview, options);
}

async function start(control: Control, body: object, preview: Preview, options: CreateOptions): Promise<void> {
  const job = await control.ask<Job>('POST', '/replays', { body });
  if (options.watch) return tellJob(await waitForJob(control, KIND, job.id), KIND, options);
  if (options.json) return printJson(job);
  tellStarted(job, KIND, preview.count);
}

function tellPreview({ count: events, isExact, skipped, first }: Preview, name: string): void {
  const many = isExact ? counted(events, 'stored event') : `At least ${count(events)} stored events`;
  print(`${many} would go to "${inline(name)}".`);
  const left = skippedText(skipped);
  if (left !== undefined) print(`Skipped: ${left}.`);
  if (first.length > 0) print(`The first ${first.length}:`);
  for (const event of first) print(`  ${jsonText(event)}`);
}
