import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeChecksums } from './checksums.ts';
import { runProgram } from './run-program.ts';
import { inPublishingOrder } from './tell-uploads.ts';

test('sha256sum accepts the checksums, and notices a changed file', () => {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-checksums-'));
  try {
    mkdirSync(join(dir, 'npm'));
    writeFileSync(join(dir, 'npm/one.tgz'), 'one');
    writeFileSync(join(dir, 'two.txt'), 'two');
    assert.deepEqual(writeChecksums(dir), ['npm/one.tgz', 'two.txt']);
    assert.match(readFileSync(join(dir, 'SHA256SUMS'), 'utf8'), /^[0-9a-f]{64} {2}npm\/one\.tgz\n/);
    runProgram('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: dir });
    writeFileSync(join(dir, 'two.txt'), 'changed');
    assert.throws(
      () => runProgram('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: dir }),
      /two\.txt: FAILED/,
    );
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('the package millrace is published after the packages that it needs', () => {
  const order = inPublishingOrder([
    'npm/millrace-1.0.0.tgz',
    'npm/millrace-nats-linux-x64-1.0.0.tgz',
    'npm/millrace-node-1.0.0.tgz',
  ]);
  assert.equal(order.at(-1), 'npm/millrace-1.0.0.tgz');
});
