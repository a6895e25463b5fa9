import type { ErrorClass } from './error-classes.ts';
import type { Standing } from './pace.ts';

export type Post = {
  /** Without it, POST. A GET has an empty body. */
  method?: 'GET';
  /** Connections are never shared between workspaces. */
  workspaceId: string;
  /** As saved: the normalised text of a WHATWG URL. */
  url: string;
  /** Name, value, name, value, …: all headers but `host` and `content-length`. */
  headers: string[];
  body: string | Uint8Array;
  /** Of its receiver, as far as its sender knows. Receivers wait for a new connection behind those of the same standing only. */
  standing?: Standing;
};

/**
 * The answer to one POST. `address` is the IP address that it went to; `body` the first 16 KiB, read as text; `isClosing` is set
 * when the receiver announced `Connection: close`.
 */
export type Answer = { timings: Timings; address?: string } & (
  | { kind: 'status'; status: number; retryAfter?: string; body: string; isClosing?: true }
  | { kind: 'error'; errorClass: ErrorClass; message: string }
);

/** Milliseconds. The first three only when this POST opened its connection. */
export type Timings = { dnsMs?: number; connectMs?: number; tlsMs?: number; firstByteMs?: number; totalMs: number };
