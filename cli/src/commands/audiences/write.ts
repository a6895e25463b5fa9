/** `millrace audiences create`, `edit` and `preview`. */
import type { Definition, DefinitionPreview } from '@millrace/contract/control';
import { count } from '@millrace/console/format/numbers';
import type { Command } from 'commander';
import { findDefinition } from '../../api/find-named.ts';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { Failure } from '../../output/failures.ts';
import { inline, print, printJson } from '../../output/print.ts';
import { printTable } from '../../output/table.ts';
import { timeText } from '../../output/times.ts';
import { apiCommand, type JsonOption } from '../api-command.ts';
import { type DefinitionOptions, readDefinition, readNewDefinition, withDefinitionOptions } from './read-definition.ts';
import { stateOf, valueText } from './tell-definition.ts';

type Options = ServerOptions & JsonOption & DefinitionOptions;

export function createCommand(): Command {
  const command = withDefinitionOptions(
    apiCommand('create <name>', 'create an audience (--when) or a computed trait (--compute)'),
  ).action(async (name: string, options: Options) => {
    const control = await connect(options);
    const body = await readNewDefinition(control, name, options);
    const definition = await control.ask<Definition>('POST', '/definitions', { body });
    if (options.json) return printJson(definition);
    print(
      `"${inline(definition.name)}" is ${stateOf(definition)}: ${definition.id}, sent as ${inline(definition.key)}.`,
    );
  });
  return withExamples(
    command,
    {
      run: `millrace audiences create "Loyal customers" --when '{"event":"Order Completed","window":"30d","atLeast":3}' --destination orders`,
      shows: 'its id, its state and the key in the calls that tell of it',
    },
    {
      run: 'millrace audiences create "Total spent" --compute sum --event "Order Completed" --field properties.revenue',
      shows: 'the same for a computed trait',
    },
  );
}

export function editCommand(): Command {
  const command = withDefinitionOptions(
    apiCommand('edit <audience>', 'change a name, destinations or the computation; only differences are told'),
  )
    .option('--name <name>', 'its new name; the key stays')
    .action(async (given: string, options: Options & { name?: string }) => {
      const control = await connect(options);
      const { id } = await findDefinition(control, given);
      const { name } = options;
      const body = { ...(name === undefined ? {} : { name }), ...(await readDefinition(control, options)) };
      if (Object.keys(body).length === 0)
        throw new Failure('There is nothing to change.', { exit: 'usage', todo: 'Give an option, such as --name.' });
      const definition = await control.ask<Definition>('PATCH', `/definitions/${id}`, { body });
      if (options.json) return printJson(definition);
      print(`"${inline(definition.name)}" is ${stateOf(definition)}.`);
    });
  return withExamples(command, {
    run: 'millrace audiences edit big_spenders --name "Best customers" --destination orders',
    shows: 'its state; a change of the computation is a new version that is computed beside the live one',
  });
}

export function previewCommand(): Command {
  const command = withDefinitionOptions(
    apiCommand('preview', 'tell how large an audience or computed trait would be, without storing it'),
  )
    .option('--exact', 'look at every profile and not at a sample')
    .action(async (options: Options & { exact?: true }) => {
      const control = await connect(options);
      const definition = await readNewDefinition(control, 'Preview', options);
      const body = { definition, exact: options.exact === true };
      const preview = await control.ask<DefinitionPreview>('POST', '/definitions/preview', { body });
      if (options.json) return printJson(preview);
      tellPreview(preview);
    });
  return withExamples(command, {
    run: `millrace audiences preview --when '{"event":"Order Completed","atLeast":1}'`,
    shows: 'the size with its bounds, and up to ten members',
  });
}

function tellPreview({ size, low, high, isExact, profiles, sampled, completeFrom, samples = [] }: DefinitionPreview) {
  const bounds = isExact ? '' : `, between ${count(low)} and ${count(high)}`;
  print(`${count(size)} of ${count(profiles)} profiles${bounds}; ${count(sampled)} were looked at.`);
  if (completeFrom !== null) print(`Events before ${timeText(completeFrom)} are not counted.`);
  const columns = [
    {
      title: 'PROFILE',
      of: (each: (typeof samples)[number]) => each.userId ?? each.anonymousId ?? '',
      isWhole: true as const,
    },
    { title: 'VALUE', of: ({ value }: (typeof samples)[number]) => valueText(value) },
  ];
  printTable(columns, samples, 'There is nobody to show.');
}
