import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isWellFormedSecret, makeSecret, type SecretKind } from './secret-text.ts';

const PAGE = join(import.meta.dirname, '../../../../docs/run/security.md');

test('secret scanners find every secret by the patterns of the docs', () => {
  const patterns = [...readFileSync(PAGE, 'utf8').matchAll(/\| `((ml\w)_\[[^`]+)` \|/g)];
  assert.deepEqual(
    patterns.map(([, , kind]) => kind),
    ['mlr', 'mls', 'mli'],
  );
  for (const [, pattern = '', kind = ''] of patterns) {
    for (let nth = 0; nth < 100; nth += 1) {
      const secret = makeSecret(kind as SecretKind);
      assert.match(secret, new RegExp(`^${pattern}$`));
      assert.ok(isWellFormedSecret(kind as SecretKind, secret));
    }
  }
});
