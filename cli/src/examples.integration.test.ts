/** Every example in the help of every command is run as a person would run it. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import type { Command } from 'commander';
import { examplesOf } from './output/example-of.ts';
import { buildProgram } from './program.ts';
import { covers, type ExampleSetting, type OtherCodes } from '../testing/examples/setting.ts';

const SETTINGS_DIR = join(import.meta.dirname, '../testing/examples');

/** Commands that run until Ctrl-C: these tests start them, use them and stop them. */
const RUN_BY_OTHER_TESTS: Readonly<Record<string, string>> = {
  dev: 'e2e/src/packed/dev-failures.test.ts',
  listen: 'e2e/src/listen.test.ts',
};

type SettingFile = { setting: ExampleSetting; otherCodes?: OtherCodes };
type Leaf = { path: string; command: Command };

const files = await Promise.all(
  readdirSync(SETTINGS_DIR)
    .filter((file) => file !== 'setting.ts')
    .map((file) => import(join(SETTINGS_DIR, file)) as Promise<SettingFile>),
);
const leaves = leavesOf(buildProgram());

suite('every command', () => {
  test('has an example in its help', () => {
    const without = leaves.filter(({ command }) => examplesOf(command).length === 0);
    assert.deepEqual(
      without.map(({ path }) => path),
      [],
    );
    for (const { path, command } of leaves) {
      for (const { run } of examplesOf(command)) assert.match(run, new RegExp(`millrace ${path}\\b`), path);
    }
  });

  test('has a setting in which its examples run: add a file to cli/testing/examples', () => {
    for (const file of Object.values(RUN_BY_OTHER_TESTS))
      assert.ok(existsSync(join(import.meta.dirname, '../..', file)), file);
    const own = leaves.filter(({ path }) => RUN_BY_OTHER_TESTS[path] === undefined);
    const counts = own.map(({ path }) => [path, files.filter(({ setting }) => covers(setting, path)).length]);
    assert.deepEqual(
      counts.filter(([, count]) => count !== 1),
      [],
    );
  });
});

for (const { setting, otherCodes = {} } of files) {
  suite(`the examples of ${setting.commands.join(', ')}`, () => {
    test('do what they say', async (t) => {
      await using open = await setting.open();
      for (const { path, command } of leaves.filter(({ path }) => covers(setting, path))) {
        for (const { run } of examplesOf(command)) {
          await t.test(run, async () => {
            const { code, stdout, stderr } = await open.run(run);
            assert.equal(code, otherCodes[run] ?? 0, `${path}\n${stdout}\n${stderr}`);
          });
        }
      }
    });
  });
}

function leavesOf(command: Command, words: readonly string[] = []): Leaf[] {
  if (command.commands.length === 0) return [{ path: words.join(' '), command }];
  return command.commands.flatMap((each) => leavesOf(each, [...words, each.name()]));
}
