import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { buildProgram } from '../program.ts';
import { candidatesFor } from './candidates.ts';
import { SCRIPTS } from './scripts.ts';

const offers = (...typed: string[]) => {
  const found = candidatesFor(buildProgram(), typed);
  return found.kind === 'words' ? found.words : found.kind;
};

test('commands and their subcommands are offered by their beginning', () => {
  assert.deepEqual(offers('dest'), ['destinations']);
  assert.deepEqual(offers('destinations', 'pa'), ['pause']);
  assert.ok(offers('').includes('tail'));
});

test('options are offered after a dash, and their choices after them', () => {
  assert.deepEqual(offers('tail', '--no-o'), ['--no-outcomes']);
  assert.deepEqual(offers('tail', '--type', 's'), ['screen']);
  assert.deepEqual(offers('completion', 'z'), ['zsh']);
});

test('sources, destinations and profiles are asked for where one belongs', () => {
  assert.equal(offers('tail', '--source', 'w'), 'sources');
  assert.equal(offers('destinations', 'pause', ''), 'destinations');
  assert.equal(offers('profiles', 'explain', 'u1', ''), 'definitions');
  assert.equal(offers('sources', 'block', 'we'), 'sources');
  assert.equal(offers('whoami', '--profile', ''), 'profiles');
  assert.deepEqual(offers('sources', 'block', 'web', ''), []);
});

test('the script of bash is valid', () => {
  execFileSync('bash', ['-n'], { input: SCRIPTS.bash });
});
