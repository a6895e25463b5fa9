/** `millrace destinations`: where events go. */
import type { Destination, Source } from '@millrace/contract/control';
import type { Command } from 'commander';
import { findDestination, findSource } from '../../api/find-named.ts';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { inline, print, printJson } from '../../output/print.ts';
import { confirm } from '../../output/prompt.ts';
import { printTable } from '../../output/table.ts';
import { apiCommand, groupCommand, type JsonOption } from '../api-command.ts';
import { healthCommand, probeCommand } from './health.ts';
import { stateOf, targetsOf, tellDestination } from './tell-destination.ts';
import { checkUpCommand } from './check-up.ts';
import { checkUrlCommand, testCommand } from './try.ts';
import { createCommand, rotateCommand, updateCommand } from './write.ts';

type Options = ServerOptions & JsonOption;

export function destinationsCommand(): Command {
  const group = groupCommand('destinations', 'list, change and try the destinations: where events go', [
    showCommand(),
    createCommand(),
    updateCommand(),
    changeCommand('pause', { paused: true }, 'keep new events waiting, for example while a receiver is repaired'),
    changeCommand('resume', { paused: false }, 'send what waits, and new events'),
    changeCommand('enable', { enabled: true }, 'send events to a destination'),
    changeCommand('disable', { enabled: false }, 'skip new events for a destination'),
    deleteCommand(),
    rotateCommand(),
    healthCommand(),
    probeCommand(),
    testCommand(),
    checkUrlCommand(),
    checkUpCommand(),
  ]);
  return group.addCommand(listCommand(), { isDefault: true });
}

function listCommand(): Command {
  const command = apiCommand('list', 'list all destinations, or those of a source')
    .option('--source <name>', 'only those of this source')
    .action(async (options: Options & { source?: string }) => {
      const control = await connect(options);
      const of = options.source === undefined ? undefined : (await findSource(control, options.source)).id;
      const items = await Array.fromAsync(control.list<Destination>('/destinations', { sourceId: of }));
      if (options.json) return printJson({ items });
      const sources = await Array.fromAsync(control.list<Source>('/sources'));
      const names = new Map(sources.map(({ id, name }) => [id, name]));
      const columns = [
        { title: 'ID', of: ({ id }: Destination) => id, isWhole: true as const },
        { title: 'NAME', of: ({ name }: Destination) => name },
        { title: 'SOURCE', of: ({ sourceId }: Destination) => names.get(sourceId) ?? sourceId },
        { title: 'STATE', of: stateOf },
        { title: 'URL', of: urlText },
      ];
      printTable(columns, items, 'There is no destination yet. Make one with millrace destinations create.');
    });
  return withExamples(command, {
    run: 'millrace destinations list --source web',
    shows: 'each destination with its id, state and URL',
  });
}

function urlText(destination: Destination): string {
  const [first, ...others] = targetsOf(destination);
  return `${first?.url ?? ''}${others.length === 0 ? '' : ` and ${others.length} more`}`;
}

function showCommand(): Command {
  const command = apiCommand('show <destination>', 'show a destination, by name or id').action(
    async (given: string, options: Options) => {
      const control = await connect(options);
      const destination = await findDestination(control, given);
      if (options.json) return printJson(destination);
      tellDestination(destination);
    },
  );
  return withExamples(command, { run: 'millrace destinations show orders', shows: 'its URLs, settings and filters' });
}

function changeCommand(name: string, body: object, words: string): Command {
  const command = apiCommand(`${name} <destination>`, words).action(async (given: string, options: Options) => {
    const control = await connect(options);
    const { id } = await findDestination(control, given);
    const destination = await control.ask<Destination>('PATCH', `/destinations/${id}`, { body });
    if (options.json) return printJson(destination);
    print(`"${inline(destination.name)}" is ${stateOf(destination)} now.`);
  });
  return withExamples(command, { run: `millrace destinations ${name} orders`, shows: 'its new state' });
}

function deleteCommand(): Command {
  const command = apiCommand('delete <destination>', 'delete a destination and give up what waits for it')
    .option('--yes', 'do not ask')
    .action(async (given: string, options: Options & { yes?: true }) => {
      const control = await connect(options);
      const { id, name } = await findDestination(control, given);
      const words = `Deliveries that wait for "${inline(name)}" are given up, and it gets no more events.`;
      await confirm(words, { ...options, type: inline(name) });
      await control.ask('DELETE', `/destinations/${id}`);
      if (options.json) return printJson({ deleted: id });
      print(`The destination "${inline(name)}" is deleted.`);
    });
  return withExamples(command, {
    run: 'millrace destinations delete old-crm --yes',
    shows: 'deletes without a question',
  });
}
