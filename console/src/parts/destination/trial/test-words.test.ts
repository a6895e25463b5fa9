import assert from 'node:assert/strict';
import { test } from 'node:test';
import { phasesOf, readCall, requestText, sampleText, TEST_TYPES } from './test-words.ts';

test('the request is shown as it went over the wire, hidden values named as such', () => {
  const text = requestText({
    method: 'POST',
    url: 'https://hooks.example/x?y=1',
    headers: [
      { name: 'Host', value: 'hooks.example' },
      { name: 'Authorization', value: null },
    ],
    body: '{}',
    isCut: false,
  });
  assert.equal(text, 'POST /x?y=1 HTTP/1.1\nHost: hooks.example\nAuthorization: (stored value, hidden)\n\n{}');
});

test('the phases add up to the whole time', () => {
  const phases = phasesOf({ dnsMs: 2, connectMs: 3, tlsMs: 5, firstByteMs: 30, totalMs: 31 });
  assert.deepEqual(
    phases.map(({ ms }) => ms),
    [2, 3, 5, 20, 1],
  );
  assert.equal(phasesOf({ totalMs: 5_000, connectMs: 4 }).find(({ name }) => name === 'Answer')?.ms, undefined);
});

test('JSON with a mistake says where it is', () => {
  assert.match(JSON.stringify(readCall('{\n"a": 1,\n}')), /line 3/);
  assert.match(JSON.stringify(readCall('{\n "type": "track",\n "userId": }')), /line 3/);
  assert.match(JSON.stringify(readCall('[]')), /one JSON object/);
  assert.match(JSON.stringify(readCall('')), /empty/);
});

test('each sample can be read again', () => {
  for (const type of TEST_TYPES.filter((type) => type !== 'delete')) assert.equal(readCall(sampleText(type)).ok, true);
});
