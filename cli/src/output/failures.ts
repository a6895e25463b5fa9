/** Every failure ends in a sentence of what happened and, where there is one, a sentence of what to do. */
import process from 'node:process';
import { CommanderError } from 'commander';
import { visible } from '@millrace/console/format/texts';
import { EXIT_CODES, type ExitName } from './exit-codes.ts';

export class Failure extends Error {
  readonly exit: ExitName;
  readonly todo: string | undefined;

  /** `message` tells the fault, `todo` the remedy. */
  constructor(message: string, { exit = 'failed', todo }: { exit?: ExitName; todo?: string } = {}) {
    super(message);
    this.exit = exit;
    this.todo = todo;
  }
}

/** Prints a failure to standard error and returns the exit code. Commander has printed its own. */
export function tellFailure(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.done.code : EXIT_CODES.usage.code;
  const failure =
    error instanceof Failure ? error : new Failure(error instanceof Error ? error.message : String(error));
  process.stderr.write(failureText(failure));
  return EXIT_CODES[failure.exit].code;
}

/** The message and the remedy may repeat text of others, such as a name or an answer. */
export function failureText({ message, todo }: Failure): string {
  return visible(`millrace: ${message}\n${todo === undefined ? '' : `${todo}\n`}`);
}
