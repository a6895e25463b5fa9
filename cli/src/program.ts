/** All commands of `millrace`, in the order in which `millrace --help` lists them. */
import { Command } from 'commander';
import { VERSION } from '@millrace/server/version';
import { devCommand } from './commands/dev.ts';
import { healthcheckCommand } from './commands/healthcheck.ts';
import { startCommand } from './commands/start.ts';
import { operateCommands } from './commands/operate.ts';
import { apiCommands } from './commands/api-commands.ts';
import { completionCommand } from './commands/completion.ts';
import { listenCommand } from './commands/listen.ts';
import { sizeCommand } from './commands/size.ts';
import { verifyCommand } from './commands/verify.ts';
import { EXIT_CODES } from './output/exit-codes.ts';

export function buildProgram(): Command {
  const program = new Command('millrace')
    .description('Collects events and delivers them to webhooks. Documentation: docs/use/cli.md')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .showHelpAfterError('(add --help to see what the command takes)')
    .exitOverride();
  const commands = [
    devCommand(),
    startCommand(),
    healthcheckCommand(),
    ...operateCommands(),
    ...apiCommands(),
    listenCommand(),
    verifyCommand(),
    sizeCommand(),
    completionCommand(),
  ];
  for (const command of commands) program.addCommand(inherit(command));
  program.addHelpText('after', `\nExit codes:\n${listExitCodes()}`);
  return program;
}

/** Subcommands throw instead of ending the process, so that main alone decides the exit code. */
function inherit(command: Command): Command {
  command.exitOverride();
  for (const child of command.commands) inherit(child);
  return command;
}

function listExitCodes(): string {
  return Object.values(EXIT_CODES)
    .map(({ code, means }) => `  ${String(code).padEnd(3)} ${means}`)
    .join('\n');
}
