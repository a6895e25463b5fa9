/** The event names of a source, and which of them it blocks. */
import type { Command } from 'commander';
import { findSource } from '../../api/find-named.ts';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { inline, print, printJson } from '../../output/print.ts';
import { printTable } from '../../output/table.ts';
import { timeText } from '../../output/times.ts';
import { apiCommand, type JsonOption } from '../api-command.ts';

type Options = ServerOptions & JsonOption;
export type SourceEvent = { name: string; blocked: boolean; firstSeenAt: string | null; lastSeenAt: string | null };

export function eventsCommand(): Command {
  const command = apiCommand(
    'events <source>',
    "list the names of a source's track events, and which are blocked",
  ).action(async (given: string, options: Options) => {
    const control = await connect(options);
    const { id } = await findSource(control, given);
    const items = await Array.fromAsync(control.list<SourceEvent>(`/sources/${id}/events`));
    if (options.json) return printJson({ items });
    const columns = [
      { title: 'EVENT', of: ({ name }: SourceEvent) => name },
      { title: 'BLOCKED', of: ({ blocked }: SourceEvent) => (blocked ? 'blocked' : '') },
      { title: 'FIRST SEEN', of: ({ firstSeenAt }: SourceEvent) => timeText(firstSeenAt) },
      { title: 'LAST SEEN', of: ({ lastSeenAt }: SourceEvent) => timeText(lastSeenAt) },
    ];
    printTable(columns, items, 'No track event of this source was seen yet.');
  });
  return withExamples(command, { run: 'millrace sources events web', shows: 'each name with when it was seen' });
}

export function blockCommand(): Command {
  return switchCommand('block', true, 'keep a track event from all destinations of a source');
}

export function unblockCommand(): Command {
  return switchCommand('unblock', false, 'let a blocked track event through again');
}

function switchCommand(name: 'block' | 'unblock', blocked: boolean, words: string): Command {
  const command = apiCommand(`${name} <source> <event>`, words).action(
    async (given: string, event: string, options: Options) => {
      const control = await connect(options);
      const source = await findSource(control, given);
      const answer = await control.ask<SourceEvent>('POST', `/sources/${source.id}/events`, {
        body: { name: event, blocked },
      });
      if (options.json) return printJson(answer);
      const end = blocked ? 'is blocked: destinations no longer get it' : 'is not blocked';
      print(`"${inline(event)}" of ${inline(source.name)} ${end}.`);
    },
  );
  return withExamples(command, { run: `millrace sources ${name} web "Debug Ping"`, shows: 'what it does now' });
}
