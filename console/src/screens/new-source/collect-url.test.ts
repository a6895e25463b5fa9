import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { cleanUrl, guessCollectUrl } from './collect-url.ts';

const here = { protocol: 'https:', hostname: 'console.example.com' };

suite('the address for calls', () => {
  test('is the setting of the installation when there is one', () => {
    const settings = [{ name: 'MILLRACE_COLLECT_URL', value: 'https://events.example.com/' }];
    assert.deepEqual(guessCollectUrl({ settings, here }), { url: 'https://events.example.com', isKnown: true });
  });

  test('is else the host of the console with the port of collect', () => {
    assert.equal(guessCollectUrl({ settings: [], here }).url, 'https://console.example.com:8080');
    const settings = [{ name: 'MILLRACE_COLLECT_PORT', value: '9000' }];
    assert.equal(guessCollectUrl({ settings, here }).url, 'https://console.example.com:9000');
  });

  test('can stand in a snippet as it is', () => {
    assert.equal(cleanUrl('https://events.example.com/in/'), 'https://events.example.com/in');
    for (const text of ['events.example.com', 'ftp://a', "https://a/'", 'https://a/?b', 'https://u@a', ''])
      assert.equal(cleanUrl(text), undefined, text);
  });
});
