import { acceptCalls, type AcceptedCalls, type Envelope, isRequestShape } from '@millrace/contract';
import { fieldProblem, readFields, readJson, type Stored, unreadable } from './format.ts';

/** Reads a stored request: its body as the client sent it, and its envelope. */
export function readRequest(envelope: string, body: Uint8Array): Stored<AcceptedCalls> {
  const known = readEnvelope(envelope);
  if (!known.ok) return known;
  const json = readJson(body);
  if (!json.ok) return json;
  try {
    const calls = acceptCalls(json.value, known.value);
    return calls === undefined ? unreadable('a body without calls') : { ok: true, value: calls };
  } catch (error) {
    return unreadable(String(error));
  }
}

export function readEnvelope(text: string): Stored<Envelope> {
  const read = readFields('request', text);
  if (!read.ok) return read.problem === 'newer' ? read : unreadable(`an envelope that is ${read.why}`);
  const kinds = { shape: 'text', receivedAt: 'time', requestId: 'text', address: 'text?', calls: 'number?' } as const;
  const why = fieldProblem(read.value, kinds);
  if (why !== undefined) return unreadable(`an envelope whose ${why}`);
  const { shape, refused = [] } = read.value as { shape: string; refused?: unknown };
  if (!isRequestShape(shape)) return unreadable('an envelope whose shape no version knows');
  if (!Array.isArray(refused)) return unreadable('an envelope whose refused is not a list');
  return { ok: true, value: read.value as unknown as Envelope };
}
