import type { LaneHealth } from '../../domain/lane-health.ts';

/** The lanes in use as the health bucket tells of them, by destination and by workspace. */
export type LaneIndex = {
  set(destinationId: string, health: LaneHealth | undefined): void;
  of(destinationId: string): LaneHealth | undefined;
  ofWorkspace(workspaceId: string): LaneHealth[];
  all(): Iterable<LaneHealth>;
};

export function openLaneIndex(): LaneIndex {
  const lanes = new Map<string, LaneHealth>();
  const byWorkspace = new Map<string, Set<string>>();
  const leave = (destinationId: string) => {
    const workspaceId = lanes.get(destinationId)?.workspaceId ?? '';
    const others = byWorkspace.get(workspaceId);
    others?.delete(destinationId);
    if (others?.size === 0) byWorkspace.delete(workspaceId);
    lanes.delete(destinationId);
  };
  return {
    set(destinationId, health) {
      leave(destinationId);
      if (health === undefined) return;
      lanes.set(destinationId, health);
      const others = byWorkspace.get(health.workspaceId) ?? new Set<string>();
      byWorkspace.set(health.workspaceId, others.add(destinationId));
    },
    of: (destinationId) => lanes.get(destinationId),
    ofWorkspace: (workspaceId) => [...(byWorkspace.get(workspaceId) ?? [])].flatMap((id) => lanes.get(id) ?? []),
    all: () => lanes.values(),
  };
}
