/** `millrace users`: erasing users, and what became of it; ways back into an account of the console. */
import type { DeletionRequest as RequestSchema, Destination, Source } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { count, counted } from '@millrace/console/format/numbers';
import type { Command } from 'commander';
import type { Control } from '../api/control.ts';
import { findSource } from '../api/find-named.ts';
import { connect, type ServerOptions } from '../api/server-options.ts';
import { withExamples } from '../output/example-of.ts';
import { inline, print, printJson } from '../output/print.ts';
import { confirm } from '../output/prompt.ts';
import { printTable } from '../output/table.ts';
import { timeText } from '../output/times.ts';
import { apiCommand, groupCommand, type JsonOption } from './api-command.ts';
import { type Job, type JobKind, listJobs, tellJob, waitForJob } from './deliveries/jobs.ts';
import { removeFactorsCommand } from './remove-factors.ts';
import { resetLinkCommand } from './reset-link.ts';

type Request = Static<typeof RequestSchema>;
type Options = ServerOptions & JsonOption;

const KIND: JobKind = { path: '/deletion-requests', word: 'deletion request', command: 'users', example: '$DELETION' };

export function usersCommand(): Command {
  return groupCommand('users', 'erase users, and see what became of it; let a person back into an account', [
    deleteCommand(),
    statusCommand(),
    listJobs(
      KIND,
      [{ title: 'USERS', of: (job: Job) => String((job as Request).userHashes.length) }],
      'There was no deletion request yet.',
    ),
    acceptCommand(),
    resetLinkCommand(),
    removeFactorsCommand(),
  ]);
}

type DeleteOptions = Options & { source?: string[]; suppress?: true; dryRun?: true; yes?: true; wait: boolean };

function deleteCommand(): Command {
  const many = (value: string, before: string[] = []) => [...before, value];
  const command = apiCommand(
    'delete <user...>',
    'erase users by their userId, and tell the destinations to do the same',
  )
    .option('--source <name>', 'only in this source; repeat it for more', many)
    .option('--suppress', 'also drop their later calls')
    .option('--dry-run', 'only show what it would touch')
    .option('--yes', 'do not ask')
    .option('--no-wait', 'do not wait for the end, which takes at least ten seconds')
    .action(remove);
  return withExamples(
    command,
    { run: 'millrace users delete u-123 --dry-run', shows: 'which sources and destinations it would touch' },
    { run: 'millrace users delete u-123 --suppress --yes', shows: 'erases the user, and shows the receipt at the end' },
  );
}

async function remove(userIds: string[], options: DeleteOptions): Promise<void> {
  const control = await connect(options);
  const chosen = await Promise.all((options.source ?? []).map((name) => findSource(control, name)));
  const preview = await previewOf(control, userIds, chosen);
  if (options.dryRun) return options.json ? printJson(preview) : tellPreview(preview);
  if (options.yes !== true) tellPreview(preview);
  const type = inline(userIds.length === 1 ? (userIds[0] ?? '') : counted(userIds.length, 'user'));
  await confirm('Erased data cannot be brought back.', { ...options, type });
  const body = {
    userIds,
    suppress: options.suppress === true,
    ...(chosen.length === 0 ? {} : { sources: chosen.map(({ id }) => id) }),
  };
  const job = await control.ask<Request>('POST', '/deletion-requests', { body });
  tellRequest(options.wait ? await waitForJob<Request>(control, KIND, job.id) : job, options);
}

type Preview = {
  users: number;
  sources: { id: string; name: string }[];
  destinations: { id: string; name: string }[];
  /** Recorded deliveries of the first users, at most 100 of each. */
  deliveries: number;
  isExact: boolean;
};

const MOST_USERS = 5;
const MOST_DELIVERIES = 100;

async function previewOf(control: Control, userIds: readonly string[], chosen: readonly Source[]): Promise<Preview> {
  const sources = chosen.length > 0 ? chosen : await Array.fromAsync(control.list<Source>('/sources'));
  const all = await Array.fromAsync(control.list<Destination>('/destinations'));
  const told = all.filter(({ sourceId, enabled }) => enabled && sources.some(({ id }) => id === sourceId));
  const counts: number[] = [];
  for (const userId of userIds.slice(0, MOST_USERS)) {
    counts.push((await Array.fromAsync(control.list('/deliveries', { userId }, MOST_DELIVERIES))).length);
  }
  return {
    users: userIds.length,
    sources: sources.map(({ id, name }) => ({ id, name })),
    destinations: told.map(({ id, name }) => ({ id, name })),
    deliveries: counts.reduce((sum, each) => sum + each, 0),
    isExact: userIds.length <= MOST_USERS && counts.every((each) => each < MOST_DELIVERIES),
  };
}

function tellPreview({ users, sources, destinations, deliveries, isExact }: Preview): void {
  const names = destinations.map(({ name }) => `"${inline(name)}"`).join(', ');
  print(`${counted(users, 'user')} in ${counted(sources.length, 'source')}:`);
  print(
    `  ${destinations.length === 0 ? 'No destination is' : `${names} ${destinations.length === 1 ? 'is' : 'are'}`} told to delete.`,
  );
  print(
    `  The record has ${isExact ? '' : 'at least '}${counted(deliveries, 'delivery', 'deliveries')} of them: ids and answers are erased.`,
  );
  print('  Lanes, dead letters and samples are searched; profiles, memberships and their history are removed.');
  print('  Stored events expire with MILLRACE_RETENTION and are no longer delivered.');
}

function tellRequest(request: Request, options: JsonOption): void {
  tellJob(request, KIND, options);
  if (options.json) return;
  const { notifications, erased } = request.receipt;
  const stores = Object.entries(erased).map(([store, found]) => `${store} ${count(found)}`);
  print(`Erased: ${stores.length === 0 ? 'no store searched yet' : stores.join(', ')}.`);
  const columns = [
    { title: 'TOLD', of: ({ destinationId }: (typeof notifications)[number]) => destinationId, isWhole: true as const },
    { title: 'AT', of: ({ sentAt }: (typeof notifications)[number]) => timeText(sentAt) },
    { title: 'OUTCOME', of: ({ outcome }: (typeof notifications)[number]) => outcome ?? 'not recorded yet' },
    { title: 'STATUS', of: ({ status }: (typeof notifications)[number]) => (status === null ? '' : String(status)) },
    { title: 'WEBHOOK-ID', of: ({ deliveryId }: (typeof notifications)[number]) => deliveryId, isWhole: true as const },
  ];
  printTable(columns, notifications, 'No destination was told.');
}

function statusCommand(): Command {
  const command = apiCommand('status <request>', 'show a deletion request with its receipt')
    .option('--wait', 'wait for its end, with progress')
    .action(async (id: string, options: Options & { wait?: true }) => {
      const control = await connect(options);
      if (options.wait) return tellRequest(await waitForJob<Request>(control, KIND, id), options);
      tellRequest(await control.ask<Request>('GET', `/deletion-requests/${encodeURIComponent(id)}`), options);
    });
  return withExamples(command, {
    run: 'millrace users status "$DELETION" --json > receipt.json',
    shows: 'keeps the receipt: what was erased in each store, and who was told',
  });
}

function acceptCommand(): Command {
  const command = apiCommand('unsuppress <user>', 'accept the calls of a suppressed user again').action(
    async (userId: string, options: Options) => {
      const control = await connect(options);
      const lifted = await control.ask('POST', '/suppressions/lift', { body: { userId } });
      if (options.json) return printJson(lifted);
      print(`Calls of "${inline(userId)}" are accepted again within a second. Erased data stays erased.`);
    },
  );
  return withExamples(command, { run: 'millrace users unsuppress suppressed-user', shows: 'calls are accepted again' });
}
