import type { JobKind } from '../../store/jobs.ts';

/**
 * How many jobs a process runs at once. Deletion requests have their own slots, so that replays never delay them. A job keeps
 * its slot while it waits for a slow receiver. When all slots are taken and a workspace without a slot has a job, the workspace
 * with the most slots gives one back, and its job resumes later.
 */
export type SlotPlan = {
  kinds: readonly JobKind[];
  atOnce: number;
  perWorkspace: number;
  /** How many steps run at once: a waiting job makes none. */
  steps: number;
};

export const SLOTS: readonly SlotPlan[] = [
  { kinds: ['deletion'], atOnce: 8, perWorkspace: 4, steps: 2 },
  { kinds: ['redrive', 'replay'], atOnce: 16, perWorkspace: 4, steps: 3 },
];

/** How long a job keeps its slot at least. */
const MIN_HELD_MS = 5_000;

export type HeldSlot = { workspaceId: string; since: number };

/** Workspaces that have as many jobs here as they may. Pure. */
export function fullWorkspaces(held: readonly HeldSlot[], { perWorkspace }: SlotPlan): string[] {
  const byWorkspace = Map.groupBy(held, ({ workspaceId }) => workspaceId);
  return [...byWorkspace].filter(([, slots]) => slots.length >= perWorkspace).map(([workspaceId]) => workspaceId);
}

/** The slot that is given back for a workspace that has none: of those with the most, the one held longest. Pure. */
export function slotToGive<T extends HeldSlot>(held: readonly T[], now: number): T | undefined {
  const groups = [...Map.groupBy(held, ({ workspaceId }) => workspaceId).values()];
  const most = Math.max(...groups.map((group) => group.length));
  const candidates = groups.filter((group) => group.length === most).flat();
  const [oldest] = candidates.toSorted((one, other) => one.since - other.since);
  return oldest === undefined || now - oldest.since < MIN_HELD_MS ? undefined : oldest;
}
