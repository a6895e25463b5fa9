import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkRequest } from './check-request.ts';

test('what a batch says for all its calls is refused when it would come to too much in all of them', () => {
  const batch = Array.from({ length: 2_500 }, () => ({ type: 'track', userId: 'u', event: 'E' }));
  const body = (bytes: number) => ({ batch, context: { text: 'x'.repeat(bytes) } });
  assert.equal(checkRequest(body(3_000), 'batch', 100_000).ok, true);
  const refused = checkRequest(body(4_000), 'batch', 100_000);
  assert.equal(!refused.ok && refused.problem.code, 'call_too_large');
});
