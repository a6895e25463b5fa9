import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusedCaller } from './check-caller.ts';

const HERE = '127.0.0.1:4318';

test('programs and pages of this machine may ask', () => {
  for (const host of [HERE, 'localhost:4318', '[::1]:4318', 'shop.localhost', undefined])
    assert.equal(refusedCaller({ host }, []), undefined, host);
  for (const origin of ['http://localhost:5173', 'https://127.0.0.1', 'http://[::1]:80', 'http://shop.localhost:3000'])
    assert.equal(refusedCaller({ host: HERE, origin }, []), undefined, origin);
});

test('a host or a page of elsewhere may not', () => {
  for (const host of ['evil.example', 'localhost.evil.example:4318', '127.0.0.1.evil.example', '10.0.0.1', 'a b'])
    assert.match(refusedCaller({ host }, []) ?? '', /no name of this machine/, host);
  for (const origin of ['https://evil.example', 'http://localhost.evil.example', 'null', '', 'file://'])
    assert.match(refusedCaller({ host: HERE, origin }, []) ?? '', /--allow-origin/, origin);
});

test('an allowed origin is allowed, with its scheme and port, and its host', () => {
  const allowed = ['https://shop.test:8443'];
  assert.equal(refusedCaller({ host: HERE, origin: 'https://shop.test:8443' }, allowed), undefined);
  assert.equal(refusedCaller({ host: 'shop.test:4318' }, allowed), undefined);
  for (const origin of ['http://shop.test:8443', 'https://shop.test', 'https://evil.example'])
    assert.notEqual(refusedCaller({ host: HERE, origin }, allowed), undefined, origin);
});
