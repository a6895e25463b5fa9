import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsOf, refusalOf } from './url-words.ts';

test('a private address is refused with the remedy, and plain HTTP is named too', () => {
  const detail =
    'The URL must not be the address 10.0.0.5, which is not public; MILLRACE_ALLOW_CIDRS can allow your own network.';
  const check = { ok: false, steps: [{ step: 'url' as const, ok: false, detail }], sentence: '' };
  const refusal = refusalOf(check, 'http://10.0.0.5/hook');
  assert.equal(refusal?.title, 'Millrace will not send to 10.0.0.5: it is a private or reserved address.');
  assert.match(refusal?.remedy ?? '', /MILLRACE_ALLOW_CIDRS.*plain HTTP/);
});

test('each step that went well is one finding', () => {
  const certificate = {
    subject: '',
    issuer: '',
    names: '',
    validFrom: '2026-01-01T00:00:00Z',
    validTo: '2027-02-12T12:00:00Z',
    daysLeft: 80,
  };
  const check = {
    ok: true,
    sentence: '',
    steps: [
      { step: 'url' as const, ok: true, detail: '' },
      { step: 'dns' as const, ok: true, detail: '', addresses: ['203.0.113.24'] },
      { step: 'policy' as const, ok: true, detail: '' },
      { step: 'connect' as const, ok: true, detail: '', ms: 21 },
      { step: 'tls' as const, ok: true, detail: '', tlsVersion: 'TLSv1.3', certificate },
    ],
  };
  assert.deepEqual(
    findingsOf(check, 'https://hooks.example/x').map(({ title }) => title),
    ['Name found', 'Address', 'Connects', 'TLS 1.3'],
  );
  assert.equal(refusalOf(check, 'https://hooks.example/x'), undefined);
});

test('a connection without TLS is told although the URL can be used', () => {
  const check = { ok: true, sentence: '', steps: [{ step: 'connect' as const, ok: true, detail: '', ms: 1 }] };
  assert.deepEqual(
    findingsOf(check, 'http://hooks.example').map(({ key, ok }) => [key, ok]),
    [
      ['connect', true],
      ['plain', false],
    ],
  );
});
