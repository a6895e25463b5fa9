/** `millrace sources`: where calls come from. */
import type { Destination, Source } from '@millrace/contract/control';
import { counted } from '@millrace/console/format/numbers';
import type { Command } from 'commander';
import { findSource } from '../../api/find-named.ts';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { Failure } from '../../output/failures.ts';
import { inline, print, printJson } from '../../output/print.ts';
import { confirm } from '../../output/prompt.ts';
import { printFacts, printTable } from '../../output/table.ts';
import { timeText } from '../../output/times.ts';
import { apiCommand, groupCommand, type JsonOption } from '../api-command.ts';
import { addKeyCommand, revokeKeyCommand } from './keys.ts';
import { blockCommand, eventsCommand, unblockCommand } from './names.ts';
import { tellProjection } from './tell-projection.ts';

type Options = ServerOptions & JsonOption;

export function sourcesCommand(): Command {
  const group = groupCommand('sources', 'list and change the sources: where calls come from', [
    showCommand(),
    createCommand(),
    updateCommand(),
    switchCommand('enable', true),
    switchCommand('disable', false),
    deleteCommand(),
    addKeyCommand(),
    revokeKeyCommand(),
    eventsCommand(),
    blockCommand(),
    unblockCommand(),
  ]);
  return group.addCommand(listCommand(), { isDefault: true });
}

function listCommand(): Command {
  const command = apiCommand('list', 'list all sources').action(async (options: Options) => {
    const control = await connect(options);
    const items = await Array.fromAsync(control.list<Source>('/sources'));
    if (options.json) return printJson({ items });
    const columns = [
      { title: 'ID', of: ({ id }: Source) => id, isWhole: true as const },
      { title: 'NAME', of: ({ name }: Source) => name },
      { title: 'STATE', of: ({ enabled }: Source) => (enabled ? 'enabled' : 'disabled') },
      { title: 'KEYS', of: ({ writeKeys }: Source) => String(writeKeys.length), isNumber: true as const },
      { title: 'CREATED', of: ({ createdAt }: Source) => timeText(createdAt) },
    ];
    printTable(columns, items, 'There is no source yet. Make one with millrace sources create NAME.');
  });
  return withExamples(command, { run: 'millrace sources list', shows: 'every source with its id, state and keys' });
}

function showCommand(): Command {
  const command = apiCommand('show <source>', 'show a source, by name or id, with its write keys').action(
    async (given: string, options: Options) => {
      const control = await connect(options);
      const source = await findSource(control, given);
      if (options.json) return printJson(source);
      tellSource(source);
    },
  );
  return withExamples(command, { run: 'millrace sources show web', shows: 'its state, limits and write keys' });
}

export function tellSource(source: Source): void {
  const { id, name, enabled, rateLimitPerSecond, writeKeys, projection, createdAt } = source;
  printFacts([
    ['Source', name],
    ['Id', id],
    ['State', enabled ? 'enabled' : 'disabled: its calls are refused'],
    ['Rate limit', rateLimitPerSecond === null ? undefined : `${counted(rateLimitPerSecond, 'call')} a second`],
    ['Cell', tellCell(source)],
    ['Created', timeText(createdAt)],
    ['In effect', tellProjection(projection)],
    ...writeKeys.map(({ key, label, id: keyId, lastUsedAt }, at) => {
      const used = lastUsedAt === null ? 'never used' : `last used ${timeText(lastUsedAt)}`;
      return [at === 0 ? 'Write keys' : '', `${key}  ${label} (${keyId}, ${used})`] as const;
    }),
  ]);
}

function tellCell({ cell, nextCell }: Source): string | undefined {
  if (nextCell !== undefined) return `${cell}, on its way to ${nextCell}`;
  return cell === 'main' ? undefined : cell;
}

function createCommand(): Command {
  const command = apiCommand('create <name>', 'create a source with a first write key')
    .option('--cell <cell>', 'the cell that carries it, in an installation with several')
    .action(async (name: string, { cell, ...options }: Options & { cell?: string }) => {
      const control = await connect(options);
      const body = { name, ...(cell === undefined ? {} : { cell }) };
      const source = await control.ask<Source>('POST', '/sources', { body });
      if (options.json) return printJson(source);
      print(`The source "${inline(source.name)}" is created (${source.id}).`);
      print(`Write key: ${source.writeKeys[0]?.key ?? ''}`);
    });
  return withExamples(command, { run: 'millrace sources create "Mobile app"', shows: 'its id and first write key' });
}

function updateCommand(): Command {
  const command = apiCommand('update <source>', 'rename a source, limit its rate or move it to another cell')
    .option('--name <name>', 'a new name')
    .option('--rate-limit <calls>', 'calls a second that collect accepts, or none for the limit of the installation')
    .option(
      '--cell <cell>',
      'the cell that takes its calls as soon as it knows the source; the old one delivers what it has',
    )
    .action(async (given: string, options: Options & { name?: string; rateLimit?: string; cell?: string }) => {
      const body = {
        ...(options.name === undefined ? {} : { name: options.name }),
        ...(options.rateLimit === undefined ? {} : { rateLimitPerSecond: readRate(options.rateLimit) }),
        ...(options.cell === undefined ? {} : { cell: options.cell }),
      };
      if (Object.keys(body).length === 0) {
        throw new Failure('There is nothing to change.', {
          exit: 'usage',
          todo: 'Give --name, --rate-limit or --cell.',
        });
      }
      await change(given, body, options);
    });
  return withExamples(command, { run: 'millrace sources update web --rate-limit 500', shows: 'the changed source' });
}

function readRate(text: string): number | null {
  if (text === 'none') return null;
  if (/^[1-9]\d{0,7}$/.test(text)) return Number(text);
  throw new Failure(`--rate-limit ${text} is no number of calls.`, {
    exit: 'usage',
    todo: 'Give one such as 500, or none.',
  });
}

function switchCommand(name: 'enable' | 'disable', enabled: boolean): Command {
  const words = enabled ? 'accept calls of a source again' : 'refuse the calls of a source';
  const command = apiCommand(`${name} <source>`, words).action((given: string, options: Options) =>
    change(given, { enabled }, options),
  );
  return withExamples(command, { run: `millrace sources ${name} mobile`, shows: 'the changed source' });
}

async function change(given: string, body: object, options: Options): Promise<void> {
  const control = await connect(options);
  const { id } = await findSource(control, given);
  const source = await control.ask<Source>('PATCH', `/sources/${id}`, { body });
  if (options.json) return printJson(source);
  tellSource(source);
}

function deleteCommand(): Command {
  const command = apiCommand('delete <source>', 'delete a source, its write keys and its destinations')
    .option('--yes', 'do not ask')
    .action(async (given: string, options: Options & { yes?: true }) => {
      const control = await connect(options);
      const { id, name } = await findSource(control, given);
      const behind = await Array.fromAsync(control.list<Destination>('/destinations', { sourceId: id }));
      await confirm(
        `The source "${inline(name)}" goes with its write keys and ${counted(behind.length, 'destination')}; clients that still send get an error.`,
        { ...options, type: inline(name) },
      );
      await control.ask('DELETE', `/sources/${id}`);
      if (options.json) return printJson({ deleted: id });
      print(`The source "${inline(name)}" is deleted.`);
    });
  return withExamples(command, { run: 'millrace sources delete staging --yes', shows: 'deletes without a question' });
}
