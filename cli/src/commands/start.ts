/** `millrace start`: the server, with its settings from the environment. */
import process from 'node:process';
import { Command } from 'commander';
import { withExamples } from '../output/example-of.ts';

export function startCommand(): Command {
  const command = new Command('start')
    .description('run the server; its settings are MILLRACE_… variables of the environment (docs/run/settings.md)')
    .action(async () => {
      // Only this command needs the code of the server.
      const { runServer } = await import('@millrace/server/run');
      process.exitCode = await runServer();
    });
  return withExamples(command, {
    run: 'MILLRACE_ROLES=everything millrace start',
    shows: 'lists what is wrong with the settings, all at once, and ends with exit code 78',
  });
}
