import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { DELAYS_MS, retryTimes, WINDOW_MS } from './retry-times.ts';

const UNITS = { s: 1_000, min: 60_000, h: 3_600_000 };

test('the times are those of the documentation', () => {
  const page = readFileSync(new URL('../../../../docs/inside/delivery-states.md', import.meta.url), 'utf8');
  const waits = [...page.matchAll(/^\| \d+(?: and later)? \| (\d+) (s|min|h) \|/gm)].map(
    ([, value, unit]) => Number(value) * UNITS[unit as keyof typeof UNITS],
  );
  assert.deepEqual([...DELAYS_MS], waits);
});

test('the last attempt is made before the end', () => {
  const retries = retryTimes();
  assert.deepEqual(retries[0], { attempt: 2, waitMs: 5_000, sinceFirstMs: 5_000 });
  const last = retries.at(-1)?.sinceFirstMs ?? 0;
  assert.ok(last < WINDOW_MS && last > WINDOW_MS - 1_800_000);
});
