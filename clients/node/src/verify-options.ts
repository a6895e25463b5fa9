/** Headers as Node, Express, Fastify and `fetch` have them. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export type Scheme = 'standard-webhooks' | 'x-signature';

export interface VerifyOptions {
  /** Milliseconds by which the time in the headers may differ from ours. Default 5 minutes. */
  toleranceMs?: number | undefined;
  /**
   * Which signatures are enough. Default both. X-Signature holds no time, so that whoever has seen a delivery can send it
   * again: name only `standard-webhooks` where that matters.
   */
  schemes?: readonly Scheme[] | undefined;
  /** The clock, in epoch milliseconds. For tests. */
  now?: (() => number) | undefined;
}
