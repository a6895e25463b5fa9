import { hash } from 'node:crypto';
import type { AcceptedEvent, DeleteEvent } from '@millrace/contract';

/** What a deletion request left behind for one user: what came before that time is erased, and perhaps all that comes. */
export type UserMark = { erasedBefore: number; isSuppressed: boolean };

export type Withheld = 'erased' | 'suppressed';

/** Why an event of an erased or suppressed user goes nowhere. A call that names two users is withheld for either. */
export function withheld(
  event: AcceptedEvent | DeleteEvent,
  markOf: (userId: string) => UserMark | undefined,
): Withheld | undefined {
  if (event.type === 'delete') return undefined;
  const { userId, previousId } = event;
  const marks = [userId, previousId].flatMap((id) => (id === undefined ? [] : (markOf(id) ?? [])));
  if (marks.some(({ erasedBefore }) => Date.parse(event.receivedAt) < erasedBefore)) return 'erased';
  return marks.some(({ isSuppressed }) => isSuppressed) ? 'suppressed' : undefined;
}

/** All that is kept of a user who was erased. Another workspace's user of the same name has another one. */
export function userHash(workspaceId: string, userId: string): string {
  return hash('sha256', `${workspaceId}\n${userId}`);
}
