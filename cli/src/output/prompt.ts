/** Questions to the person at the terminal. They go to standard error, so that standard output holds the result only. */
import { text } from 'node:stream/consumers';
import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import { Failure } from './failures.ts';

export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

export async function question(words: string): Promise<string> {
  using lines = createInterface({ input: process.stdin, output: process.stderr });
  return (await lines.question(words)).trim();
}

/** Reads without an echo: nothing of a password is shown, not even its length. */
export async function hiddenQuestion(words: string): Promise<string> {
  const { stdin, stderr } = process;
  // The echo ends before the question is asked: a quick typist must not be shown either.
  stdin.setRawMode(true);
  stdin.resume();
  stdin.setEncoding('utf8');
  stderr.write(words);
  try {
    let typed = '';
    for await (const piece of stdin.iterator({ destroyOnReturn: false })) {
      for (const key of String(piece)) {
        if (key === '\r' || key === '\n') return typed;
        if (key === '\u0003') throw new Failure('Stopped.', { exit: 'interrupted' });
        typed = key === '\u007f' || key === '\b' ? typed.slice(0, -1) : `${typed}${key}`;
      }
    }
    return typed;
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write('\n');
  }
}

/** A change that should not happen by a slip of the hand. `type` is the word that the person has to type. */
export async function confirm(words: string, { yes, type = 'yes' }: { yes?: boolean; type?: string }): Promise<void> {
  if (yes === true) return;
  if (!isInteractive()) {
    throw new Failure('The command needs a confirmation, and there is no terminal to ask on.', {
      exit: 'usage',
      todo: 'Add --yes when you are sure.',
    });
  }
  if ((await question(`${words}\nType ${type} to go on: `)) === type) return;
  throw new Failure('Nothing was changed.', { exit: 'interrupted' });
}

/** A secret on standard input, without the line break at its end. */
export async function secretFromInput(): Promise<string> {
  return (await text(process.stdin)).replace(/\r?\n$/, '');
}
