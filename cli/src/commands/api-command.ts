/** A command that asks a server: it has the options of the server and `--json`. */
import { Command } from 'commander';
import { withServerOptions } from '../api/server-options.ts';

export type JsonOption = { json?: true };

export function apiCommand(nameAndArguments: string, description: string): Command {
  const command = new Command(nameAndArguments.split(' ')[0]).description(description);
  const args = nameAndArguments.split(' ').slice(1).join(' ');
  if (args !== '') command.arguments(args);
  return withServerOptions(command.option('--json', "print the API's own JSON"));
}

/** A command that only holds others. */
export function groupCommand(name: string, description: string, commands: readonly Command[]): Command {
  const group = new Command(name).description(description);
  for (const command of commands) group.addCommand(command);
  return group;
}
