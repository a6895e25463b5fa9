import { hash } from 'node:crypto';
import type { AcceptedEvent, DeleteEvent } from '@millrace/contract';

/** The marks of deletion requests for one user: events before that time are erased, and new ones perhaps suppressed. */
export type UserMark = { erasedBefore: number; isSuppressed: boolean };

export type Withheld = 'erased' | 'suppressed';

/**
 * Why an event of an erased or suppressed user goes nowhere. A call that names two users is withheld for either; one without a userId for
 * its anonymousId, if that is known as an erased user's.
 */
export function withheld(
  event: AcceptedEvent | DeleteEvent,
  markOf: (name: string) => UserMark | undefined,
): Withheld | undefined {
  if (event.type === 'delete') return undefined;
  const marks = namesIn(event).flatMap((name) => markOf(name) ?? []);
  if (marks.some(({ erasedBefore }) => Date.parse(event.receivedAt) < erasedBefore)) return 'erased';
  return marks.some(({ isSuppressed }) => isSuppressed) ? 'suppressed' : undefined;
}

/** The names under which marks of users are kept. A userId stands for itself. */
export function namesIn({ userId, previousId, anonymousId }: EventIds): string[] {
  const own = userId ?? (anonymousId === undefined ? undefined : anonymousName(anonymousId));
  return [own, previousId].filter((name) => name !== undefined);
}

type EventIds = {
  userId?: string | undefined;
  previousId?: string | undefined;
  anonymousId?: string | undefined;
};

/** Differs from every userId that a client sends, so that neither is taken for the other. */
export function anonymousName(anonymousId: string): string {
  return `anonymous\n${anonymousId}`;
}

/** Stands for an erased user; nothing else of them is kept. The same name in another workspace has another hash. */
export function userHash(workspaceId: string, userId: string): string {
  return hash('sha256', `${workspaceId}\n${userId}`);
}
