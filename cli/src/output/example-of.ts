/** Examples in the help of a command. A test runs every one of them. */
import type { Command } from 'commander';

export type Example = { run: string; shows: string };

const examples = new WeakMap<Command, readonly Example[]>();

/** Adds examples to the help of a command. */
export function withExamples(command: Command, ...added: readonly Example[]): Command {
  examples.set(command, added);
  const lines = added.map(({ run, shows }) => `  ${run}\n      ${shows}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

export function examplesOf(command: Command): readonly Example[] {
  return examples.get(command) ?? [];
}
