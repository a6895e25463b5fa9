/** `MILLRACE_CLIENT_CALLS=1000000 node --test clients/node/src/memory.integration.test.ts` is the full size. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { DEAD_URL } from '../testing/serve-answers.ts';

const CALLS = Number(process.env['MILLRACE_CLIENT_CALLS'] ?? 150_000);
/** The queue alone may hold 16 MiB. */
const MOST_GROWTH_MIB = 24;

for (const whenFull of ['dropNewest', 'dropOldest']) {
  test(`memory stays flat for ${CALLS} calls against a dead server with ${whenFull}`, async () => {
    const program = join(import.meta.dirname, '../testing/fill-queue.ts');
    const args = ['--expose-gc', program, DEAD_URL, String(CALLS), whenFull];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { heapMiB, counts, told } = JSON.parse(stdout) as {
      heapMiB: number[];
      counts: { sent: number; failed: number; dropped: number; waiting: number };
      told: number;
    };
    const [early = 0] = heapMiB;
    const most = Math.max(...heapMiB);
    assert.ok(most - early < MOST_GROWTH_MIB, `the heap in MiB: ${heapMiB.join(' ')}`);
    assert.equal(counts.sent + counts.failed + counts.dropped + counts.waiting, CALLS);
    assert.equal(told, counts.failed + counts.dropped, 'each loss was told');
  });
}
