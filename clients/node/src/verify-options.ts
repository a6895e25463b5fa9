/** Headers as Node, Express, Fastify and `fetch` have them. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export type Scheme = 'standard-webhooks' | 'x-signature';

export interface VerifyOptions {
  /** Milliseconds by which the time in the headers may differ from ours. Default 5 minutes. */
  toleranceMs?: number | undefined;
  /**
   * The one signature that is checked. Default `standard-webhooks`. X-Signature covers neither the time nor the id: an
   * attacker who has seen a delivery can replay it under another id. Ask for it only where a proxy drops the other headers.
   */
  scheme?: Scheme | undefined;
  /** The clock, in epoch milliseconds. For tests. */
  now?: (() => number) | undefined;
}
