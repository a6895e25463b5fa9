import { hash } from 'node:crypto';
import type { AcceptedEvent, DeleteEvent } from '@millrace/contract';

/** The marks of deletion requests for one user: events before that time are erased, and new ones perhaps suppressed. */
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

/** Stands for an erased user; nothing else of them is kept. The same name in another workspace has another hash. */
export function userHash(workspaceId: string, userId: string): string {
  return hash('sha256', `${workspaceId}\n${userId}`);
}
