import type { ErrorClass } from './error-classes.ts';

/** Codes of the system, of OpenSSL and of undici. Other codes are judged by their prefix. */
const CLASS_OF: Record<string, ErrorClass> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  ETIMEDOUT: 'timeout',
  // Ours, not the receiver's: this process or machine has none left.
  EMFILE: 'not_sent',
  ENFILE: 'not_sent',
  ENOBUFS: 'not_sent',
  ENOMEM: 'not_sent',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_self_signed',
  CERT_HAS_EXPIRED: 'tls_expired',
  CERT_NOT_YET_VALID: 'tls_expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls_wrong_host',
  HOSTNAME_MISMATCH: 'tls_wrong_host',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'tls_untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls_untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls_untrusted',
  CERT_CHAIN_TOO_LONG: 'tls_untrusted',
  CERT_REVOKED: 'tls_untrusted',
  CERT_UNTRUSTED: 'tls_untrusted',
  CERT_REJECTED: 'tls_untrusted',
  CERT_SIGNATURE_FAILURE: 'tls_untrusted',
  INVALID_CA: 'tls_untrusted',
  INVALID_PURPOSE: 'tls_untrusted',
  PATH_LENGTH_EXCEEDED: 'tls_untrusted',
  EPROTO: 'tls_failed',
  UND_ERR_HEADERS_OVERFLOW: 'bad_response',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'bad_response',
  UND_ERR_INVALID_ARG: 'request_invalid',
  UND_ERR_NOT_SUPPORTED: 'request_invalid',
};
/** undici gives these the same code as a closed connection. */
const BAD_RESPONSES = ['bad response', 'bad upgrade'];

export function classifyError(error: Error, isHandshake = false): ErrorClass {
  const code = codeOf(error);
  const known = CLASS_OF[code];
  if (known === 'connection_reset' && BAD_RESPONSES.includes(error.message)) return 'bad_response';
  if (known !== undefined) return known;
  if (error.name === 'HTTPParserError') return 'bad_response';
  return isHandshake || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') ? 'tls_failed' : 'connection_failed';
}

/** For people: a code that can be searched for, or else the message. */
export function errorDetail(error: Error): string {
  const code = codeOf(error);
  if (code !== '' && !code.startsWith('UND_ERR_')) return code;
  // The parser wraps its reason in a sentence of its own.
  return /\((.+)\)$/.exec(error.message)?.[1] ?? error.message;
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
