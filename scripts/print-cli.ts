/** Prints docs/use/cli-reference.md from the commands themselves. With `--write` it also writes the page, which a test holds. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { examplesOf } from '../cli/src/output/example-of.ts';
import { EXIT_CODES } from '../cli/src/output/exit-codes.ts';
import { buildProgram } from '../cli/src/program.ts';
import { ROOT_DIR } from './project-files.ts';

type Command = ReturnType<typeof buildProgram>;
type Option = Command['options'][number];

export const CLI_PAGE = 'docs/use/cli-reference.md';

/** The options that every command with a server has stand once, at the top. */
const SERVER_GROUP = 'Server options:';

const INTRODUCTION = `# Commands of millrace

Every command with its options and examples, as \`millrace help\` shows them. [The command line](cli.md) has a tour. \`node scripts/print-cli.ts --write\`
prints this page from the program; CI runs every example.`;

export function cliPage(): string {
  const program = buildProgram();
  const commands = program.commands.filter((command) => command.name() !== 'help');
  const list = commands.map(
    (command) => `- [${command.name()}](#millrace-${command.name()}): ${command.description()}`,
  );
  const parts = [
    INTRODUCTION,
    list.join('\n'),
    exitCodes(),
    serverOptions(commands),
    ...commands.map((each) => commandText(each, [])),
  ];
  return `${parts.join('\n\n')}\n`;
}

function exitCodes(): string {
  const rows = Object.values(EXIT_CODES).map(({ code, means }) => `| ${code} | ${means} |`);
  return ['## Exit codes', '', '| code | meaning |', '|---|---|', ...rows].join('\n');
}

function serverOptions(commands: readonly Command[]): string {
  const [first] = commands.flatMap(({ options }) =>
    options.some(isServerOption) ? [options.filter(isServerOption)] : [],
  );
  return `## Server options\n\nEvery command that asks a server has these.\n\n${optionTable(first ?? [])}`;
}

function isServerOption({ helpGroupHeading }: Option): boolean {
  return helpGroupHeading === SERVER_GROUP;
}

function commandText(command: Command, above: readonly string[]): string {
  const words = [...above, command.name()];
  const title = `${above.length === 0 ? '##' : '###'} millrace ${words.join(' ')}`;
  const parts = [title, `${capital(command.description())}.`];
  if (command.commands.length > 0) {
    const [standard] = command.commands.filter((each) => isDefault(command, each));
    if (standard !== undefined) parts.push(`Without a subcommand it is \`${standard.name()}\`.`);
    return [...parts, ...command.commands.map((each) => commandText(each, words))].join('\n\n');
  }
  const own = command.options.filter((option) => !isServerOption(option) && !option.hidden);
  const usage = `millrace ${words.join(' ')} ${command.usage()}`.trim();
  parts.push(`\`\`\`\n${usage}\n\`\`\``);
  if (own.length > 0) parts.push(optionTable(own));
  if (own.length < command.options.length) parts.push('And the [server options](#server-options).');
  const examples = examplesOf(command).map(({ run, shows }) => `# ${shows}\n${run}`);
  if (examples.length > 0)
    parts.push(`<!-- run by cli/src/examples.integration.test.ts -->\n\`\`\`sh\n${examples.join('\n\n')}\n\`\`\``);
  return parts.join('\n\n');
}

/** Commander keeps the name of the default subcommand to itself; its help does not show it either. */
function isDefault(group: Command, command: Command): boolean {
  // oxlint-disable-next-line no-underscore-dangle -- as above
  return (group as unknown as { _defaultCommandName?: string })._defaultCommandName === command.name();
}

function optionTable(options: readonly Option[]): string {
  const rows = options.map((option) => `| \`${option.flags}\` | ${cell(option)} |`);
  return ['| option | meaning |', '|---|---|', ...rows].join('\n');
}

function cell({ description, argChoices, mandatory, defaultValue }: Option): string {
  const choices = argChoices === undefined ? '' : ` (${argChoices.join(', ')})`;
  const standard = typeof defaultValue === 'string' ? `; \`${defaultValue}\` unless given` : '';
  return `${description}${choices}${standard}${mandatory ? '; required' : ''}`
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

if (import.meta.main) {
  console.log(cliPage());
  if (process.argv.includes('--write')) writeFileSync(join(ROOT_DIR, CLI_PAGE), cliPage());
}
