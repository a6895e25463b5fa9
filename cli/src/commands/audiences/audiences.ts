/** `millrace audiences`: audiences and computed traits, which are the same resource. */
import type { Definition, Destination, Source } from '@millrace/contract/control';
import { count } from '@millrace/console/format/numbers';
import { Option, type Command } from 'commander';
import type { Control } from '../../api/control.ts';
import { findDefinition, findDestination } from '../../api/find-named.ts';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { inline, print, printJson } from '../../output/print.ts';
import { confirm } from '../../output/prompt.ts';
import { printTable } from '../../output/table.ts';
import { timeText } from '../../output/times.ts';
import { apiCommand, groupCommand, type JsonOption } from '../api-command.ts';
import { historyCommand, membersCommand } from './people.ts';
import { stateOf, tellDefinition } from './tell-definition.ts';
import { createCommand, editCommand, previewCommand } from './write.ts';

type Options = ServerOptions & JsonOption;

export function audiencesCommand(): Command {
  const group = groupCommand('audiences', 'list, change and look into audiences and computed traits', [
    showCommand(),
    createCommand(),
    editCommand(),
    deleteCommand(),
    previewCommand(),
    membersCommand(),
    historyCommand(),
    resyncCommand(),
  ]);
  return group.addCommand(listCommand(), { isDefault: true });
}

function listCommand(): Command {
  const command = apiCommand('list', 'list all audiences and computed traits')
    .addOption(new Option('--kind <kind>', 'only those of one kind').choices(['audience', 'trait']))
    .action(async (options: Options & { kind?: string }) => {
      const control = await connect(options);
      const items = await Array.fromAsync(control.list<Definition>('/definitions', { kind: options.kind }));
      if (options.json) return printJson({ items });
      const columns = [
        { title: 'ID', of: ({ id }: Definition) => id, isWhole: true as const },
        { title: 'NAME', of: ({ name }: Definition) => name },
        { title: 'KEY', of: ({ key }: Definition) => key },
        { title: 'STATE', of: stateOf },
        { title: 'SIZE', of: ({ size }: Definition) => count(size), isNumber: true as const },
        { title: 'COMPLETE FROM', of: ({ completeFrom }: Definition) => timeText(completeFrom) },
      ];
      printTable(columns, items, 'There is no audience yet. Make one with millrace audiences create.');
    });
  return withExamples(command, { run: 'millrace audiences list', shows: 'each one with its id, state and size' });
}

function showCommand(): Command {
  const command = apiCommand('show <audience>', 'show an audience or computed trait, by key, name or id').action(
    async (given: string, options: Options) => {
      const control = await connect(options);
      const definition = await findDefinition(control, given);
      if (options.json) return printJson(definition);
      tellDefinition(definition, await namesOf(control));
    },
  );
  return withExamples(command, { run: 'millrace audiences show big_spenders', shows: 'its rule, size and state' });
}

async function namesOf(control: Control): Promise<Map<string, string>> {
  const sources = await Array.fromAsync(control.list<Source>('/sources'));
  const destinations = await Array.fromAsync(control.list<Destination>('/destinations'));
  return new Map([...sources, ...destinations].map(({ id, name }) => [id, name]));
}

function deleteCommand(): Command {
  const members = new Option('--members <how>', 'exit: tell each member that they left; leave: tell nothing');
  const command = apiCommand('delete <audience>', 'delete an audience or computed trait; its key is never used again')
    .addOption(members.choices(['exit', 'leave']).makeOptionMandatory())
    .option('--yes', 'do not ask')
    .action(async (given: string, options: Options & { members: string; yes?: true }) => {
      const control = await connect(options);
      const { id, name, key } = await findDefinition(control, given);
      const told = options.members === 'exit' ? 'Every member is told that they left.' : 'Nobody is told.';
      await confirm(`The key ${inline(key)} is never used again. ${told}`, { ...options, type: inline(name) });
      const deleted = await control.ask<Definition>('DELETE', `/definitions/${id}`, {
        query: { members: options.members },
      });
      if (options.json) return printJson(deleted);
      print(`"${inline(name)}" is being deleted.`);
    });
  return withExamples(command, {
    run: 'millrace audiences delete old_audience --members leave --yes',
    shows: 'deletes without a question, and tells nobody',
  });
}

function resyncCommand(): Command {
  const command = apiCommand('resync <audience>', 'tell every member to its destinations again')
    .option('--destination <name>', 'only to this one')
    .action(async (given: string, options: Options & { destination?: string }) => {
      const control = await connect(options);
      const { id, name } = await findDefinition(control, given);
      const to = options.destination === undefined ? undefined : await findDestination(control, options.destination);
      const body = to === undefined ? {} : { destinationId: to.id };
      const definition = await control.ask<Definition>('POST', `/definitions/${id}/resync`, { body });
      if (options.json) return printJson(definition);
      print(`The members of "${inline(name)}" are told again.`);
    });
  return withExamples(command, {
    run: 'millrace audiences resync big_spenders --destination orders',
    shows: 'tells them again, with the same webhook-id',
  });
}
