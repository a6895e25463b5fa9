import { hash } from 'node:crypto';
import { keepAnswer, takeIdempotencyKey } from '../../store/idempotency-keys.ts';
import type { Tx } from '../../store/open-store.ts';
import type { Actor } from '../access/actor.ts';
import { ApiProblem } from '../problems/problems.ts';
import type { KeyRing } from '../../secrets/seal.ts';

export type Answer = { status: number; text: string; isRepeated: boolean };

/** A request with an Idempotency-Key: it is done once, however often it is sent. */
export type Once = { workspaceId: string; key: string; requestHash: Buffer };

type Sent = { header: string; method: string; path: string; body: unknown };

/** Keys belong to a user or token, so that one never gets the stored answer of another. */
export function readOnce({ header, method, path, body }: Sent, actor: Actor): Once {
  if (!/^[\x21-\x7e]{1,200}$/.test(header)) {
    throw new ApiProblem('invalid_request', [
      { path: 'Idempotency-Key', message: 'must be 1 to 200 visible ASCII characters' },
    ]);
  }
  const requestHash = hash('sha256', JSON.stringify([method, path, body ?? null]), 'buffer');
  return { workspaceId: actor.workspaceId, key: `${actor.id} ${header}`, requestHash };
}

/**
 * Stores the answer in the transaction of the work: it exists if and only if the work is done. It is sealed, because some
 * answers hold a secret that is shown once.
 */
export async function doOnce(once: Once, work: () => Promise<Answer>, tx: Tx, keyRing: KeyRing): Promise<Answer> {
  const place = { workspaceId: once.workspaceId, table: 'idempotency_keys', column: 'answer_sealed', rowId: once.key };
  const before = await takeIdempotencyKey(tx, once, once.requestHash);
  if (before === undefined) {
    const answer = await work();
    await keepAnswer(tx, once, { status: answer.status, sealed: keyRing.seal(answer.text, place) });
    return answer;
  }
  if (!before.request_hash.equals(once.requestHash)) throw new ApiProblem('idempotency_key_reused');
  if (before.status === null || before.answer_sealed === null) throw new Error('an idempotency key without its answer');
  return { status: before.status, text: keyRing.open(before.answer_sealed, place), isRepeated: true };
}
