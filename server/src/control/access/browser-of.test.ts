import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from './browser-of.ts';

test('a browser keeps its kind over upgrades and on another system, and is told from others', () => {
  const chrome = (version: number, system: string) =>
    `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`;
  assert.equal(browserOf(chrome(140, 'X11; Linux x86_64')), 'Chrome');
  assert.equal(browserOf(chrome(141, 'Linux; Android 16')), 'Chrome');
  assert.equal(browserOf(`${chrome(141, 'Windows NT 10.0')} Edg/141.0`), 'Edge');
  assert.equal(browserOf('Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'), 'Firefox');
  assert.equal(browserOf('Mozilla/5.0 (iPhone) Version/19.0 Mobile/15E148 Safari/604.1'), 'Safari');
  assert.equal(browserOf('curl/8.5.0'), 'curl');
  assert.equal(browserOf('node'), 'node');
  assert.equal(browserOf(''), '');
  assert.equal(browserOf('x'.repeat(500)).length, 40);
});
