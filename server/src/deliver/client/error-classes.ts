import type { ErrorClass as ErrorClassName } from '@millrace/contract/help';

/** The facts that a sentence may name about the POST that failed. */
export type Facts = {
  host: string;
  port: number;
  /** An error code of the system, or the reason of a refusal. */
  detail: string;
};

/**
 * Everything that can come back instead of a status, each with its sentence for people. It says what happened, and what the owner
 * of the destination can do about it.
 */
const SENTENCES = {
  url_invalid: ({ detail }: Facts) => `The URL ${detail}; correct it in the destination.`,
  request_invalid: ({ detail }: Facts) =>
    `The request could not be written (${detail}); check the destination's headers.`,
  address_forbidden: ({ host, detail }: Facts) => `${host} was not contacted: the URL ${detail}.`,
  dns_not_found: ({ host }: Facts) => `The name ${host} does not exist in DNS; check its spelling.`,
  dns_failed: ({ host, detail }: Facts) => `The name ${host} could not be resolved (${detail}).`,
  dns_timeout: ({ host }: Facts) => `The DNS servers did not answer in time for ${host}.`,
  connection_refused: ({ host, port }: Facts) => `${host} refused the connection: nothing listens on port ${port}.`,
  connection_reset: ({ host, detail }: Facts) => `${host} closed the connection before it answered (${detail}).`,
  connection_failed: ({ host, port, detail }: Facts) => `No connection to ${host} on port ${port} (${detail}).`,
  tls_self_signed: ({ host }: Facts) =>
    `The certificate of ${host} is self-signed, so nothing was sent; install one from a public authority.`,
  tls_expired: ({ host }: Facts) =>
    `The certificate of ${host} has expired or is not valid yet, so nothing was sent; renew it.`,
  tls_wrong_host: ({ host }: Facts) =>
    `The certificate that was shown is not for ${host}, so nothing was sent; add this name to it.`,
  tls_untrusted: ({ host, detail }: Facts) =>
    `The certificate of ${host} does not lead to a trusted authority (${detail}), so nothing was sent; serve the whole chain.`,
  tls_failed: ({ host, detail }: Facts) =>
    `No TLS connection to ${host} (${detail}), so nothing was sent; it has to speak TLS 1.2 or newer with HTTP/1.1.`,
  timeout: ({ host, detail }: Facts) => `${host} was too slow: ${detail}.`,
  bad_response: ({ host, detail }: Facts) => `${host} answered with something that is not HTTP/1.1 (${detail}).`,
  answer_too_large: ({ host, detail }: Facts) =>
    `${host} sent ${detail} and no end, so the connection was closed; a short answer with a status is enough.`,
  not_sent: ({ host, detail }: Facts) =>
    `Nothing was sent to ${host}: Millrace had no connection to spare (${detail}).`,
  stopped: ({ host }: Facts) => `Millrace was stopped before ${host} answered.`,
} satisfies Record<ErrorClassName, (facts: Facts) => string>;

export type ErrorClass = keyof typeof SENTENCES;

export const ERROR_CLASSES = Object.keys(SENTENCES) as ErrorClass[];

export function sentence(errorClass: ErrorClass, facts: Facts): string {
  return SENTENCES[errorClass](facts);
}
