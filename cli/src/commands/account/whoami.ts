/** `millrace whoami`: the account, its workspaces and the server. */
import type { Me } from '@millrace/contract/control';
import type { Command } from 'commander';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { inline, print, printJson } from '../../output/print.ts';
import { apiCommand, type JsonOption } from '../api-command.ts';

export function whoamiCommand(): Command {
  const command = apiCommand('whoami', 'show the account, its role and its workspaces').action(whoami);
  return withExamples(command, { run: 'millrace whoami', shows: 'who you are, in which role, on which server' });
}

async function whoami(options: ServerOptions & JsonOption): Promise<void> {
  const control = await connect(options);
  const me = await control.ask<Me>('GET', '/me');
  if (options.json) return printJson(me);
  print(`${tellMe(me, control.workspace)} on ${control.server}.`);
  if (me.workspaces.length < 2) return;
  print('Your workspaces:');
  for (const { id, name, role } of me.workspaces) print(`  ${id}  ${inline(name)} (${role})`);
}

/** "Signed in as ann@example.com (Ann), owner of Shop". */
export function tellMe({ user, token, workspaces }: Me, workspaceId: string | undefined): string {
  const who = user === null ? `the token "${token?.name ?? ''}"` : `${user.email} (${user.name})`;
  const [only] = workspaces;
  const workspace = workspaces.find(({ id }) => id === workspaceId) ?? (workspaces.length === 1 ? only : undefined);
  const where = workspace === undefined ? '' : `, ${workspace.role} of ${workspace.name}`;
  return inline(`Signed in as ${who}${where}`);
}
