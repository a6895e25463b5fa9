import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { checkIn } from './check-in.ts';

test('the part that verifies is found in the receiver of each language', () => {
  for (const path of ['node/receiver.js', 'go/receiver.go', 'python/receiver.py', 'php/receiver.php']) {
    const file = readFileSync(new URL(`../../../../../examples/receiving/${path}`, import.meta.url), 'utf8');
    const check = checkIn(file);
    assert.ok(check.length < file.length / 2, path);
    assert.match(check, /webhook.signature/i, path);
    assert.match(check, /whsec_/, path);
  }
});
