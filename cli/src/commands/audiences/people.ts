/** `millrace audiences members` and `history`: the people of a definition. */
import type { DefinitionHistory, DefinitionMembers } from '@millrace/contract/control';
import type { Command } from 'commander';
import { findDefinition } from '../../api/find-named.ts';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { printJson } from '../../output/print.ts';
import { printTable } from '../../output/table.ts';
import { timeText } from '../../output/times.ts';
import { apiCommand, type JsonOption } from '../api-command.ts';
import { readCount } from '../read-count.ts';
import { valueText } from './tell-definition.ts';

type Options = ServerOptions & JsonOption & { limit: string };
type Member = DefinitionMembers['items'][number];
type Change = DefinitionHistory['items'][number];

const idOf = ({ userId, anonymousId }: Pick<Member, 'userId' | 'anonymousId'>) => userId ?? anonymousId ?? '';

export function membersCommand(): Command {
  const command = apiCommand('members <audience>', 'list the members, or the profiles that have a value')
    .option('--limit <n>', 'at most so many', '50')
    .action(async (given: string, options: Options) => {
      const items = await readItems<Member>(given, 'members', options);
      if (options.json) return printJson({ items });
      const columns = [
        { title: 'PROFILE', of: idOf, isWhole: true as const },
        { title: 'VALUE', of: ({ value }: Member) => valueText(value) },
        { title: 'SINCE', of: ({ since }: Member) => timeText(since) },
      ];
      printTable(columns, items, 'There is no member.');
    });
  return withExamples(command, {
    run: 'millrace audiences members big_spenders --json',
    shows: 'each member with since when',
  });
}

export function historyCommand(): Command {
  const command = apiCommand('history <audience>', 'list the changes, newest first')
    .option('--limit <n>', 'at most so many', '50')
    .action(async (given: string, options: Options) => {
      const items = await readItems<Change>(given, 'history', options);
      if (options.json) return printJson({ items });
      const columns = [
        { title: 'AT', of: ({ at }: Change) => timeText(at) },
        { title: 'PROFILE', of: idOf, isWhole: true as const },
        { title: 'VALUE', of: ({ value }: Change) => valueText(value) },
        { title: 'CAUSE', of: ({ cause }: Change) => cause },
        { title: 'MESSAGE', of: ({ messageId }: Change) => messageId ?? '', isWhole: true as const },
      ];
      printTable(columns, items, 'There was no change yet.');
    });
  return withExamples(command, {
    run: 'millrace audiences history big_spenders --limit 10',
    shows: 'each change with its cause; millrace explain tells about the message',
  });
}

async function readItems<Item>(given: string, part: string, options: Options): Promise<Item[]> {
  const control = await connect(options);
  const { id } = await findDefinition(control, given);
  const limit = readCount('--limit', options.limit);
  return Array.fromAsync(control.list<Item>(`/definitions/${id}/${part}`, {}, limit));
}
