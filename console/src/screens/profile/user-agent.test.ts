import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserWords } from './user-agent.ts';

test('browsers are told by name and system', () => {
  const edge = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0';
  const safari = 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile/15E148 Safari/604.1';
  assert.equal(browserWords(edge), 'Edge on Windows');
  assert.equal(browserWords(safari), 'Safari on iPhone');
  assert.equal(browserWords('curl/8.5.0'), 'curl');
  assert.equal(browserWords('something else'), 'something else');
  assert.equal(browserWords(''), 'Unknown browser');
});
