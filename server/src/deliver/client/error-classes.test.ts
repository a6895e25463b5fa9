import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { classifyError, errorDetail } from './classify-error.ts';
import { ERROR_CLASSES, sentence } from './error-classes.ts';
import { explain } from '../../http/resolve-name.ts';

const coded = (code: string, message = 'words') => Object.assign(new Error(message), { code });

suite('an error', () => {
  test('is told in one sentence that names the host or the URL', () => {
    const facts = { host: 'hook.example', port: 8443, detail: 'DETAIL' };
    for (const errorClass of ERROR_CLASSES) {
      const text = sentence(errorClass, facts);
      assert.match(text, /^[A-Za-z].*[^.]\.$/, errorClass);
      assert.match(text, /hook\.example|The URL|The request/, errorClass);
      assert.doesNotMatch(text, /undefined|\n|\.\./, errorClass);
    }
  });

  test('has the class that its code says', () => {
    const expected: [error: Error, errorClass: string][] = [
      [coded('ECONNREFUSED'), 'connection_refused'],
      [coded('ECONNRESET'), 'connection_reset'],
      [coded('EPIPE'), 'connection_reset'],
      [coded('UND_ERR_SOCKET', 'other side closed'), 'connection_reset'],
      [coded('UND_ERR_SOCKET', 'bad response'), 'bad_response'],
      [coded('UND_ERR_HEADERS_OVERFLOW'), 'bad_response'],
      [Object.assign(new Error('words'), { name: 'HTTPParserError' }), 'bad_response'],
      [coded('EHOSTUNREACH'), 'connection_failed'],
      [coded('ENETUNREACH'), 'connection_failed'],
      [coded('EMFILE'), 'not_sent'],
      [coded('ETIMEDOUT'), 'timeout'],
      [coded('SELF_SIGNED_CERT_IN_CHAIN'), 'tls_untrusted'],
      [coded('ERR_SSL_WRONG_VERSION_NUMBER'), 'tls_failed'],
      [coded('UND_ERR_INVALID_ARG'), 'request_invalid'],
      [new Error('who knows'), 'connection_failed'],
    ];
    for (const [error, errorClass] of expected) assert.equal(classifyError(error), errorClass, errorDetail(error));
    assert.equal(classifyError(coded('UNHEARD_OF'), true), 'tls_failed', 'inside a handshake');
  });

  test('is told with its code, or with the words of the parser', () => {
    assert.equal(errorDetail(coded('EHOSTUNREACH')), 'EHOSTUNREACH');
    assert.equal(errorDetail(coded('UND_ERR_SOCKET', 'other side closed')), 'other side closed');
    assert.equal(errorDetail(new Error('Response does not match (Expected HTTP/)')), 'Expected HTTP/');
  });

  test('of one address family does not hide the worse one of the other', () => {
    for (const [codes, errorClass] of [
      [['ENOTFOUND', 'ENOTFOUND'], 'dns_not_found'],
      [['ENODATA', 'ENODATA'], 'dns_not_found'],
      [['ENODATA', 'ESERVFAIL'], 'dns_failed'],
      [['ETIMEOUT', 'ESERVFAIL'], 'dns_timeout'],
      [['ENOTFOUND', 'ETIMEOUT'], 'dns_timeout'],
    ] as const) {
      const explained = explain([...codes]);
      assert.equal(!explained.ok && explained.errorClass, errorClass);
    }
  });
});
