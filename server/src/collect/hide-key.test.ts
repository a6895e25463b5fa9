import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { withoutKeys } from './hide-key.ts';

suite('the write key in a body', () => {
  test('is overwritten wherever it stands, and nothing else changes', () => {
    const text = '{"writeKey":"k-123","batch":[{"writeKey" : "k-123","event":"k-1234","note":"k-123"}]}';
    const stored = storedText(text, 'k-123');
    assert.equal(stored, '{"writeKey":"*****","batch":[{"writeKey" : "*****","event":"k-1234","note":"*****"}]}');
  });

  test('goes even when it is not the one that was used', () => {
    assert.doesNotMatch(storedText('{"writeKey":"other-key","userId":"u"}', 'k-123'), /other-key/);
  });

  test('goes even when it is written with escapes', () => {
    const stored = storedText('{"writeKey":"k\\u002d123","userId":"u"}', 'k-123');
    assert.equal(stored, '{"userId":"u"}');
    assert.equal(storedText('{"write\\u004bey":"k\\u002d123","userId":"u"}', 'k-123'), '{"userId":"u"}');
  });

  test('leaves a body without one as it is, byte for byte', () => {
    const text = '{ "userId": "u", "big": 12345678901234567890 }';
    assert.equal(storedText(text, 'k-123'), text);
  });
});

function storedText(text: string, key: string): string {
  const shape = text.includes('"batch"') ? 'batch' : 'track';
  return withoutKeys(Buffer.from(text), { body: JSON.parse(text), shape, refused: [], writeKey: key }).toString();
}
