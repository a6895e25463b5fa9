/** Go's own tools check and test faults/power, the disk that can lose its power. Its tests mount it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { ROOT_DIR } from './project-files.ts';
import { runProgram } from './run-program.ts';

const cwd = join(ROOT_DIR, 'faults/power');

suite('the disk that can lose its power', () => {
  test('is formatted', async () => {
    assert.equal(await runProgram('gofmt', ['-l', '.'], { cwd }), '');
  });

  test('go vet has no complaint', async () => {
    await runProgram('go', ['vet', './...'], { cwd });
  });

  test('keeps what was synced, and loses the rest as the mode says', async () => {
    await runProgram('go', ['test', '-count=1', './...'], { cwd, env: { CGO_ENABLED: '0', GOFLAGS: '-trimpath' } });
  });
});
