import { ROLE_NAMES, type RoleName } from '../access/permissions.ts';

/** A live tail that is open. */
export type OpenTail = { workspaceId: string; actorId: string; role: RoleName };

/** `give`: open it, and end this one for it. */
export type TailShare<T extends OpenTail> = { kind: 'open' } | { kind: 'give'; from: T } | { kind: 'refuse' };

export const MAX_TAILS = { total: 100, workspace: 50, actor: 10 };

/**
 * Whether one more tail is opened. Pure. A token or user may have a few. In a workspace at its limit, the actor with the most
 * tails loses its oldest; in a process at its limit, the workspace with the most loses one. So a viewer never keeps an owner
 * out, nor a workspace another one.
 */
export function shareTails<T extends OpenTail>(
  open: readonly T[],
  asking: OpenTail,
  most: number = MAX_TAILS.workspace,
): TailShare<T> {
  const ofWorkspace = open.filter(({ workspaceId }) => workspaceId === asking.workspaceId);
  const own = ofWorkspace.filter(({ actorId }) => actorId === asking.actorId);
  if (own.length >= MAX_TAILS.actor) return { kind: 'refuse' };
  if (ofWorkspace.length >= most) return fromOthers(ofWorkspace, own.length, asking);
  if (open.length < MAX_TAILS.total) return { kind: 'open' };
  const largest = largestGroup(open, ({ workspaceId }) => workspaceId);
  if (largest.length > ofWorkspace.length + 1) return give(largestGroup(largest, ({ actorId }) => actorId));
  return fromOthers(ofWorkspace, own.length, asking);
}

function fromOthers<T extends OpenTail>(tails: readonly T[], own: number, asking: OpenTail): TailShare<T> {
  const most = largestGroup(tails, ({ actorId }) => actorId);
  if (most.length > own + 1) return give(most);
  // All have about as many: the role decides.
  const below = tails.filter(({ role }) => ROLE_NAMES.indexOf(role) > ROLE_NAMES.indexOf(asking.role));
  return asking.role === 'owner' ? give(below) : { kind: 'refuse' };
}

function give<T extends OpenTail>([oldest]: readonly T[]): TailShare<T> {
  return oldest === undefined ? { kind: 'refuse' } : { kind: 'give', from: oldest };
}

export function countBy<T>(items: readonly T[], key: (item: T) => string): Map<string, number> {
  return new Map([...Map.groupBy(items, key)].map(([id, group]) => [id, group.length]));
}

function largestGroup<T>(items: readonly T[], key: (item: T) => string): readonly T[] {
  const groups = [...Map.groupBy(items, key).values()];
  return groups.reduce<readonly T[]>((most, group) => (group.length > most.length ? group : most), []);
}
