/** `millrace profiles`: one user, and why they are in an audience. */
import type { MembershipExplanation, Profile } from '@millrace/contract/control';
import type { Command } from 'commander';
import { findDefinition } from '../api/find-named.ts';
import { connect, type ServerOptions } from '../api/server-options.ts';
import { withExamples } from '../output/example-of.ts';
import { inline, print, printJson, styled } from '../output/print.ts';
import { printFacts, printTable } from '../output/table.ts';
import { timeText, timeWithDistance } from '../output/times.ts';
import { apiCommand, groupCommand, type JsonOption } from './api-command.ts';
import { valueText } from './audiences/tell-definition.ts';

type Options = ServerOptions & JsonOption & { anonymous?: true };

export function profilesCommand(): Command {
  return groupCommand('profiles', 'look into the profile of one user', [showCommand(), explainCommand()]);
}

function showCommand(): Command {
  const command = apiCommand('show <user>', 'show the ids, traits, groups, audiences and computed traits of a user')
    .option('--anonymous', 'the id is an anonymousId')
    .action(async (userId: string, options: Options) => {
      const control = await connect(options);
      const path = `/profiles/${encodeURIComponent(userId)}`;
      const profile = await control.ask<Profile>('GET', path, { query: kindOf(options) });
      if (options.json) return printJson(profile);
      tellProfile(profile);
    });
  return withExamples(command, {
    run: 'millrace profiles show u1',
    shows: 'what is known, and when each audience ends',
  });
}

function kindOf({ anonymous }: Options) {
  return { kind: anonymous === true ? 'anonymous' : 'user' };
}

function tellProfile({ kind, id, links, traits, groups, firstSeenAt, lastSeenAt, memberships }: Profile): void {
  printFacts([
    [kind === 'user' ? 'User' : 'Anonymous', id],
    ['Also', links.map((link) => link.id).join(', ') || undefined],
    ['Traits', Object.keys(traits).length === 0 ? undefined : JSON.stringify(traits)],
    ['Groups', groups.map(({ groupId }) => groupId).join(', ') || undefined],
    ['First seen', timeText(firstSeenAt) || undefined],
    ['Last seen', timeText(lastSeenAt) || undefined],
  ]);
  const columns = [
    { title: 'AUDIENCE', of: ({ name }: (typeof memberships)[number]) => name },
    { title: 'KEY', of: ({ key }: (typeof memberships)[number]) => key, isWhole: true as const },
    { title: 'VALUE', of: ({ value }: (typeof memberships)[number]) => valueText(value) },
    { title: 'SINCE', of: ({ since }: (typeof memberships)[number]) => timeText(since) },
    { title: 'ENDS', of: ({ endsAt }: (typeof memberships)[number]) => timeText(endsAt) },
  ];
  printTable(columns, memberships, 'The user is in no audience and has no computed trait.');
}

function explainCommand(): Command {
  const command = apiCommand(
    'explain <user> <audience>',
    'tell why a user is in an audience or not, and when that ends',
  )
    .option('--anonymous', 'the id is an anonymousId')
    .action(async (userId: string, given: string, options: Options) => {
      const control = await connect(options);
      const { id } = await findDefinition(control, given);
      const path = `/profiles/${encodeURIComponent(userId)}/memberships/${id}/explain`;
      const told = await control.ask<MembershipExplanation>('GET', path, { query: kindOf(options) });
      if (options.json) return printJson(told);
      tellExplanation(userId, told);
    });
  return withExamples(command, {
    run: 'millrace profiles explain u1 big_spenders',
    shows: 'each leaf of the condition with its value, its verdict and its last events',
  });
}

function tellExplanation(userId: string, told: MembershipExplanation): void {
  const { kind, key, value, sequence, changesAt, leaves, history, identifies } = told;
  const verdict = kind === 'trait' ? valueText(value) : value === true ? 'in' : 'not in';
  print(`${inline(userId)} has ${inline(key)}: ${inline(verdict)}.`);
  if (changesAt !== null) print(`Without another event this stays so until ${timeWithDistance(changesAt)} at least.`);
  for (const { leaf, value: found, threshold, holds, messageIds } of leaves) {
    const mark = holds ? styled('green', 'yes') : styled('red', 'no ');
    const asked = threshold === '' ? '' : `, asked for ${threshold}`;
    print(`  ${mark} ${inline(JSON.stringify(leaf))}: ${inline(valueText(found))}${inline(asked)}`);
    if (messageIds.length > 0) print(`      last events: ${inline(messageIds.join(', '))}`);
  }
  printFacts([
    ['Changes', sequence === 0 ? 'none' : String(sequence)],
    ['Last change', history[0] === undefined ? undefined : `${timeText(history[0].at)}, by ${history[0].cause}`],
    ...identifies.map(({ messageId, isWaiting, deliveries }) => {
      const states = deliveries.map(({ destinationId, state }) => `${destinationId} ${state}`);
      return ['Told', `${messageId}: ${isWaiting ? 'waits' : states.join(', ')}`] as const;
    }),
  ]);
}
