import { acceptRequest, type Envelope } from './accept-request.ts';
import type { AcceptedEvent } from './call.ts';
import { checkCall } from './check-call.ts';
import { type Problem, problemOf } from './refusals.ts';

export type ParsedCall = { ok: true; value: AcceptedEvent } | { ok: false; problem: Problem };

/** One call by itself, checked and accepted; with the shape `batch` it names its own type. */
export function parseCall(raw: unknown, envelope: Envelope): ParsedCall {
  const code = checkCall(raw, envelope.shape, true);
  if (code !== undefined) return { ok: false, problem: problemOf(code) };
  const body = envelope.shape === 'batch' ? { batch: [raw] } : raw;
  const [value] = acceptRequest(body, { ...envelope, refused: [] });
  return value === undefined ? { ok: false, problem: problemOf('type_unknown') } : { ok: true, value };
}
