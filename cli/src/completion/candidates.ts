/** The words that may follow what a person has typed, from the commands themselves. Pure. */
import type { Command, Option } from 'commander';

export type Candidates =
  | { kind: 'words'; words: string[] }
  /** Names that only the server or the profiles know. */
  | { kind: Dynamic };

type Dynamic = 'sources' | 'destinations' | 'definitions' | 'profiles';

const DYNAMIC: Readonly<Record<string, Dynamic>> = {
  source: 'sources',
  '--source': 'sources',
  destination: 'destinations',
  '--destination': 'destinations',
  audience: 'definitions',
  '--profile': 'profiles',
};

/** `typed` are the words after `millrace`; the last one is unfinished, and may be empty. */
export function candidatesFor(program: Command, typed: readonly string[]): Candidates {
  const before = typed.slice(0, -1);
  const current = typed.at(-1) ?? '';
  const { command, operands, waitingOption } = walk(program, before);
  if (waitingOption !== undefined) return valuesOf(waitingOption, current);
  if (current.startsWith('-')) return words(optionsOf(command), current);
  if (command.commands.length > 0 && operands === 0)
    return words(
      command.commands.map((each) => each.name()),
      current,
    );
  const argument =
    command.registeredArguments[operands] ?? command.registeredArguments.findLast((each) => each.variadic);
  const dynamic = argument === undefined ? undefined : DYNAMIC[argument.name()];
  return dynamic === undefined ? words([...(argument?.argChoices ?? [])], current) : { kind: dynamic };
}

function walk(program: Command, before: readonly string[]) {
  let command = program;
  let operands = 0;
  let waitingOption: Option | undefined;
  for (const word of before) {
    if (waitingOption !== undefined) waitingOption = undefined;
    else if (word.startsWith('-')) {
      const option = command.options.find(({ long, short }) => long === word || short === word);
      if (option?.required === true) waitingOption = option;
    } else {
      const inner = operands === 0 ? command.commands.find((each) => each.name() === word) : undefined;
      if (inner === undefined) operands += 1;
      else command = inner;
    }
  }
  return { command, operands, waitingOption };
}

function valuesOf({ long, argChoices }: Option, current: string): Candidates {
  const dynamic = DYNAMIC[long ?? ''];
  return dynamic === undefined ? words([...(argChoices ?? [])], current) : { kind: dynamic };
}

function optionsOf(command: Command): string[] {
  return [...command.options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? ''), '--help'];
}

function words(all: readonly string[], current: string): Candidates {
  return { kind: 'words', words: all.filter((word) => word.startsWith(current)) };
}
