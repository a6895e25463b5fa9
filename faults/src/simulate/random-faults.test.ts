/** Seeds that no run had before, for as long as MILLRACE_SIMULATE_SECONDS says. The output has each seed; `npm run simulate` replays one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateFor } from './simulate-for.ts';

const SECONDS = Number(process.env['MILLRACE_SIMULATE_SECONDS'] ?? 180);

test('new seeds break no promise', async (t) => {
  const seed = Date.now() % 1_000_000_000;
  const result = await simulateFor({ seed, runs: Infinity, wallMs: SECONDS * 1_000 }, (line) => t.diagnostic(line));
  assert.deepEqual(result.failed, undefined);
});
