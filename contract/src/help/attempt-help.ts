import type { ErrorClass } from './codes.ts';
import type { Help } from './help.ts';

/** An attempt that ended without a status. */
export const ATTEMPT_HELP: Record<ErrorClass, Help> = {
  url_invalid: {
    title: 'The URL cannot be used',
    cause: 'The URL of the target is not a complete web address. Millrace sends nothing there and does not retry.',
    remedy: 'Correct the URL in the destination, then send its dead letters again.',
    whoCanDoIt: 'destination',
  },
  request_invalid: {
    title: 'The request could not be written',
    cause: 'The request does not fit into HTTP, most often because of a character in a header of the target.',
    remedy: 'Enter the headers of the target again. Millrace keeps retrying meanwhile.',
    whoCanDoIt: 'destination',
  },
  address_forbidden: {
    title: 'Millrace may not send to this address',
    cause:
      'The name of the target leads to a private, local or reserved address, and Millrace refuses to connect there.',
    remedy: 'Use a public address, or ask the people who run Millrace to allow this network.',
    whoCanDoIt: 'operator',
  },
  dns_not_found: {
    title: 'The name of the target does not exist',
    cause: 'DNS knows no address for the name in the URL. It is misspelt, or its entry was removed.',
    remedy: 'Check the spelling of the URL, or restore the DNS entry.',
    whoCanDoIt: 'destination',
  },
  dns_failed: {
    title: 'The name of the target could not be looked up',
    cause: 'A DNS server answered with an error, so Millrace has no address to connect to.',
    remedy: 'Check the DNS zone of the receiver. Millrace retries by itself.',
    whoCanDoIt: 'receiver',
  },
  dns_timeout: {
    title: 'DNS did not answer in time',
    cause: 'The DNS servers were silent until the time of the attempt was over.',
    remedy: 'Check the DNS servers that Millrace uses, and those of the receiver. Millrace retries by itself.',
    whoCanDoIt: 'operator',
  },
  connection_refused: {
    title: 'The receiver refused the connection',
    cause: 'No program listens on the port of the URL, or a firewall turns Millrace away.',
    remedy: 'Start the receiver, or correct the port in the URL. Millrace then sends the waiting deliveries by itself.',
    whoCanDoIt: 'receiver',
  },
  connection_reset: {
    title: 'The receiver hung up before it answered',
    cause: 'The receiver, or a proxy in front of it, closed the connection in the middle of the request.',
    remedy: 'Look into the log of the receiver and of its proxy at the time of the attempt.',
    whoCanDoIt: 'receiver',
  },
  connection_failed: {
    title: 'No connection to the receiver',
    cause: 'The network between Millrace and the receiver failed, or a firewall drops the packets.',
    remedy: 'Check that the receiver can be reached from the network of Millrace.',
    whoCanDoIt: 'receiver',
  },
  tls_self_signed: {
    title: 'The certificate is self-signed',
    cause: 'No public authority vouches for the certificate of the receiver, so Millrace sent nothing.',
    remedy: 'Install a certificate from a public authority on the receiver.',
    whoCanDoIt: 'receiver',
  },
  tls_expired: {
    title: 'The certificate has expired',
    cause: 'The certificate of the receiver has ended or is not valid yet, so Millrace sent nothing.',
    remedy: 'Renew the certificate of the receiver. Millrace then sends the waiting deliveries by itself.',
    whoCanDoIt: 'receiver',
  },
  tls_wrong_host: {
    title: 'The certificate is for another name',
    cause: 'The receiver showed a certificate that does not list the name in the URL, so Millrace sent nothing.',
    remedy: 'Add the name to the certificate, or use a name in the URL that the certificate lists.',
    whoCanDoIt: 'receiver',
  },
  tls_untrusted: {
    title: 'The certificate is not trusted',
    cause:
      'The certificate does not lead to an authority that Millrace trusts. Often the receiver leaves out the chain.',
    remedy: 'Let the receiver serve the whole chain of certificates.',
    whoCanDoIt: 'receiver',
  },
  tls_failed: {
    title: 'No secure connection to the receiver',
    cause: 'Millrace and the receiver could not agree on a TLS connection, so Millrace sent nothing.',
    remedy: 'Let the receiver speak TLS 1.2 or newer with HTTP/1.1.',
    whoCanDoIt: 'receiver',
  },
  timeout: {
    title: 'The receiver was too slow',
    cause: 'The receiver did not answer within five seconds.',
    remedy: 'Let the receiver answer first and do its work afterwards. It may get the event again.',
    whoCanDoIt: 'receiver',
  },
  bad_response: {
    title: 'The answer was not HTTP',
    cause: 'The port of the URL answered with something that is not HTTP/1.1.',
    remedy: 'Check that the URL has the right port and the right scheme.',
    whoCanDoIt: 'destination',
  },
  answer_too_large: {
    title: 'The answer was too long',
    cause: 'The receiver sent far more than a webhook needs, so Millrace closed the connection.',
    remedy: 'Let the receiver answer with a status and a short body, or none.',
    whoCanDoIt: 'receiver',
  },
  not_sent: {
    title: 'Millrace had no connection to spare',
    cause: 'The deliver process had all its connections in use. The receiver is not at fault, and this is no attempt.',
    remedy: 'Wait, because Millrace sends it soon. Add a deliver process if it lasts.',
    whoCanDoIt: 'operator',
  },
  stopped: {
    title: 'Millrace was stopped',
    cause: 'The deliver process ended before the receiver answered, as in an upgrade.',
    remedy: 'Wait, because another process sends it again. The receiver may get the event twice.',
    whoCanDoIt: 'operator',
  },
};
