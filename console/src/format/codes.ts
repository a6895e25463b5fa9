/** Words for the class of an error, where they must be short. The whole sentence comes from the API. */

/** "Answered 503" for `http_503`; undefined for a class that has a sentence of its own. */
export function answeredWords(errorClass: string): string | undefined {
  const status = /^http_(\d{3})$/.exec(errorClass)?.[1];
  return status === undefined ? undefined : `Answered ${status}`;
}

const SHORT: Readonly<Record<string, string>> = {
  timeout: 'No answer within 5 s',
  dns_not_found: 'Name not found',
  dns_failed: 'Name lookup failed',
  dns_timeout: 'Name lookup timed out',
  connection_refused: 'Connection refused',
  connection_reset: 'Connection broken',
  connection_failed: 'Connection failed',
  tls_self_signed: 'Self-signed certificate',
  tls_expired: 'Certificate expired',
  tls_wrong_host: 'Certificate for another name',
  tls_untrusted: 'Certificate not trusted',
  tls_failed: 'TLS failed',
  address_forbidden: 'Address not allowed',
  url_invalid: 'URL not valid',
  request_invalid: 'Request not valid',
};

/** Classes that a person may look for, the most frequent first. */
export const COMMON_CLASSES: readonly string[] = [
  'http_500',
  'http_502',
  'http_503',
  'http_429',
  'http_400',
  'http_401',
  'http_403',
  'http_404',
  'http_422',
  ...Object.keys(SHORT),
];

/** The code itself where there are no words for it. */
export function shortWords(errorClass: string): string {
  return answeredWords(errorClass) ?? SHORT[errorClass] ?? errorClass;
}
