import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesOfDead } from './remove-abandoned.ts';

test('only the namespaces of dead runs are removed, and none of others', () => {
  const listed = ['millrace-12-n1 (id: 3)', 'millrace-12-hub', 'millrace-13-n1', 'millrace-n1', 'other-12-n1', ''];
  assert.deepEqual(
    namesOfDead('millrace', listed, (pid) => pid === 13),
    ['millrace-12-n1', 'millrace-12-hub'],
  );
});
