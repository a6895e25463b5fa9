import { randomUUID } from 'node:crypto';
import { type AcceptedEvent, acceptRequest, type CallType, checkRequest, type DeleteEvent } from '@millrace/contract';
import type { TestDestination } from '@millrace/contract/control';
import { ApiProblem } from '../../problems/problems.ts';

/** The id of no real user: a receiver that overlooks the mark changes none. */
const USER = { userId: 'millrace-test-user' };

const SAMPLES: Readonly<Record<CallType, object>> = {
  track: { ...USER, event: 'Millrace Test', properties: { note: 'Sent by hand to try this destination' } },
  identify: { ...USER, traits: { name: 'Millrace Test' } },
  page: { ...USER, name: 'Millrace Test', properties: { url: 'https://example.com/' } },
  screen: { ...USER, name: 'Millrace Test', properties: {} },
  group: { ...USER, groupId: 'millrace-test-group', traits: { name: 'Millrace Test' } },
  alias: { ...USER, previousId: 'millrace-test-visitor' },
};

/** The event of a test: the given call as collect would accept it, or a sample. Throws the problem that collect would find. */
export function eventToSend({ type, event }: TestDestination, now: Date): AcceptedEvent | DeleteEvent {
  const receivedAt = now.toISOString();
  const requestId = `test-${randomUUID()}`;
  if (event !== undefined && type !== undefined) {
    throw new ApiProblem('invalid_request', [{ path: '/type', message: 'is for the sample: an event has its own' }]);
  }
  if (type === 'delete') return { type, ...USER, messageId: requestId, receivedAt, timestamp: receivedAt };
  const batch = [event ?? { type: type ?? 'track', ...SAMPLES[type ?? 'track'] }];
  const bytes = Buffer.byteLength(JSON.stringify(batch));
  const checked = checkRequest({ batch }, 'batch', bytes);
  const [accepted] = checked.ok ? acceptRequest({ batch }, { shape: 'batch', receivedAt, requestId }) : [];
  if (accepted !== undefined) return accepted;
  const [refusal] = checked.refused;
  const problem = checked.ok ? undefined : checked.problem;
  const why = refusal ?? problem;
  throw new ApiProblem('invalid_request', [
    { path: '/event', message: `would be refused by the collection API (${why?.code}): ${why?.message}` },
  ]);
}
