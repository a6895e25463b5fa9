/** `millrace completion`: scripts for shells, and the words that they offer. */
import process from 'node:process';
import { Argument, Command } from 'commander';
import { profilesFile, readProfiles } from '../api/profiles.ts';
import { connect } from '../api/server-options.ts';
import { type Candidates, candidatesFor } from '../completion/candidates.ts';
import { SCRIPTS, type Shell, SHELLS } from '../completion/scripts.ts';
import { readEnvironment } from '../environment.ts';
import { withExamples } from '../output/example-of.ts';
import { inline, print } from '../output/print.ts';

/** A person who pressed Tab does not wait for longer. */
const PATIENCE_SECONDS = '1';

export function completionCommand(): Command {
  const command = new Command('completion')
    .description('print a script that completes commands, options, sources and destinations in a shell')
    .addArgument(
      new Argument('<shell>', 'the shell; "words" prints the words that the scripts offer').choices([
        ...SHELLS,
        'words',
      ]),
    )
    .argument('[typed...]', 'for "words": what was typed after millrace')
    .action(async (shell: Shell | 'words', typed: string[]) => {
      if (shell !== 'words') return void process.stdout.write(SCRIPTS[shell]);
      const program = command.parent ?? command;
      const current = typed.at(-1) ?? '';
      for (const word of await wordsOf(candidatesFor(program, typed))) {
        if (word.startsWith(current)) print(inline(word));
      }
    });
  return withExamples(
    command,
    { run: 'source <(millrace completion bash)', shows: 'completes in this shell; put it into ~/.bashrc to keep it' },
    { run: 'millrace completion words -- destinations pa', shows: 'what Tab would offer: pause' },
  );
}

/** Without a server, or without an answer in time, nothing is offered. */
async function wordsOf(candidates: Candidates): Promise<string[]> {
  if (candidates.kind === 'words') return candidates.words;
  try {
    if (candidates.kind === 'profiles')
      return Object.keys(await readProfiles(profilesFile(readEnvironment().configDir)));
    const control = await connect({ timeout: PATIENCE_SECONDS });
    const { items } = await control.ask<{ items: { name: string; key?: string }[] }>('GET', `/${candidates.kind}`, {
      query: { limit: 100 },
    });
    return items.map(({ key, name }) => key ?? name);
  } catch {
    return [];
  }
}
