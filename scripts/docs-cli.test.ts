/** docs/use/cli-reference.md and the tour are held against the commands. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { buildProgram } from '../cli/src/program.ts';
import { CLI_PAGE, cliPage } from './print-cli.ts';
import { ROOT_DIR } from './project-files.ts';

type Command = ReturnType<typeof buildProgram>;

suite('the pages of the command line', () => {
  test('the reference is printed from the program: `node scripts/print-cli.ts --write`', () => {
    assert.equal(readFileSync(join(ROOT_DIR, CLI_PAGE), 'utf8'), cliPage());
  });

  test('the tour names only commands and options that exist', () => {
    const tour = readFileSync(join(ROOT_DIR, 'docs/use/cli.md'), 'utf8');
    const blocks = [...tour.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = '']) => text);
    const lines = blocks.flatMap((text) => text.split(/\n|\|(?!\|)/)).filter((line) => /(^|\s)millrace /.test(line));
    assert.ok(lines.length >= 15, `${lines.length} commands`);
    for (const line of lines)
      mustExist(buildProgram(), line.slice(line.indexOf('millrace ')).split(/\s+/).slice(1), line);
  });
});

function mustExist(program: Command, words: readonly string[], line: string): void {
  let command = program;
  for (const word of words) {
    const inner = command.commands.find((each) => each.name() === word);
    if (inner === undefined) break;
    command = inner;
  }
  assert.notEqual(command, program, `${line}: no such command`);
  for (const flag of words.filter((word) => /^--[a-z]/.test(word))) {
    assert.ok(
      command.options.some(({ long }) => long === flag),
      `${line}: ${command.name()} has no ${flag}`,
    );
  }
}
