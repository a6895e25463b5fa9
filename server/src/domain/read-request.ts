import { acceptCalls, type AcceptedCalls, type Envelope, isRequestShape } from '@millrace/contract';
import { type Fields, fieldProblem, isFields, readFields, readJson, type Stored, unreadable } from './format.ts';

/** Where the calls of a computed request go: to these destinations, if they are of this workspace, and to no others. */
export type ComputedRoute = { workspaceId: string; destinations: readonly string[] };

/** The events of a stored request; `computed` is set if Millrace made its calls itself. */
export type RequestCalls = AcceptedCalls & { computed?: ComputedRoute };

/** Reads a stored request: its body as the client sent it, and its envelope. */
export function readRequest(envelope: string, body: Uint8Array): Stored<RequestCalls> {
  const known = readEnvelope(envelope);
  if (!known.ok) return known;
  const json = readJson(body);
  if (!json.ok) return json;
  const { computed } = known.value;
  try {
    const calls = acceptCalls(json.value, known.value);
    if (calls === undefined) return unreadable('a body without calls');
    return { ok: true, value: computed === undefined ? calls : { ...calls, computed } };
  } catch (error) {
    return unreadable(String(error));
  }
}

export function readEnvelope(text: string): Stored<Envelope> {
  const read = readFields('request', text);
  if (!read.ok) return read.problem === 'newer' ? read : unreadable(`an envelope that is ${read.why}`);
  const why = envelopeProblem(read.value);
  return why === undefined
    ? { ok: true, value: read.value as unknown as Envelope }
    : unreadable(`an envelope whose ${why}`);
}

const KINDS = {
  shape: 'text',
  receivedAt: 'time',
  requestId: 'text',
  address: 'text?',
  calls: 'number?',
  computed: 'object?',
} as const;

function envelopeProblem(value: Fields): string | undefined {
  const why = fieldProblem(value, KINDS);
  if (why !== undefined) return why;
  const { shape, refused = [], computed } = value as { shape: string; refused?: unknown; computed?: unknown };
  if (!isRequestShape(shape)) return 'shape no version knows';
  if (!Array.isArray(refused)) return 'refused is not a list';
  return computed === undefined || isComputedRoute(computed) ? undefined : 'computed names no destinations';
}

function isComputedRoute(value: unknown): value is ComputedRoute {
  if (!isFields(value) || fieldProblem(value, { workspaceId: 'text', destinations: 'list' }) !== undefined)
    return false;
  return (value['destinations'] as unknown[]).every((id) => typeof id === 'string');
}
