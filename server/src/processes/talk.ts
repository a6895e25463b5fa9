/** Supervisor and child talk over the channel that Node opens between them. Either may be of another version: unknown kinds are ignored. */
import type { Readiness } from '../metrics/serve-metrics.ts';

export type Asked = 'metrics' | 'readiness';

/** `retire`: another child listens on the same ports already. */
export type Order = { kind: 'stop' } | { kind: 'retire' } | { kind: 'ask'; id: number; what: Asked };
export type EndOrder = Exclude<Order['kind'], 'ask'>;

export type Answer = { metrics?: string; readiness?: Readiness };

/** `drainMs`: a child may have read another time to drain than its supervisor, whose settings are those of its own start. `serves`: it collects and delivers. */
export type Told =
  | { kind: 'answers'; drainMs?: number }
  | { kind: 'serves' }
  | { kind: 'ready' }
  | ({ kind: 'answer'; id: number } & Answer);

/** The exit code of sysexits.h for a configuration error: a supervisor need not try again. */
export const EX_CONFIG = 78;
