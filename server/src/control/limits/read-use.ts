/** How much of its limits each workspace uses: from PostgreSQL, from the lanes that deliver reports, and from the dead letters. */
import { LIMIT_NAMES, type LimitName, type LimitUse } from '@millrace/contract/control';
import type { LaneHealth } from '../../domain/lane-health.ts';
import { LIMITS, type LimitValues, type OwnLimits, stateOf } from '../../limits/limits.ts';
import { hostOf } from '../../limits/target-host.ts';
import { configBytes } from '../../store/config-sizes.ts';
import { destinationOwners } from '../../store/destinations.ts';
import { countUse, targetOrigins } from '../../store/limit-use.ts';
import type { Store, Tx } from '../../store/open-store.ts';
import type { ControlSide } from '../../stream/open-control-side.ts';

/** Null: it cannot be counted now. Left out: none. */
export type Use = Partial<Record<LimitName, number | null>>;

export type UseNeeds = {
  /** All workspaces, or only the one that is asked for. */
  transact: Store['asSystem'];
  side: Pick<ControlSide, 'letterCounts' | 'letterBytes'>;
  lanes?: { all(): Iterable<LaneHealth> };
  /** Of this process: open tails and requests a second by workspace. */
  process?: ProcessUse;
  now(): Date;
};
export type ProcessUse = {
  tails(): ReadonlyMap<string, number>;
  requests(): Iterable<readonly [workspaceId: string, perSecond: number]>;
};

/** Targets of one destination: with fewer destinations than a fifth of the limit no workspace is near it. */
const TARGETS_EACH = 5;

/** Of one workspace, or of all: then hosts are counted only where they can be near the limit. */
export async function readUse(needs: UseNeeds, of: { workspaceId?: string; leastHosts?: number } = {}) {
  const { workspaceId, leastHosts = 0 } = of;
  const uses = new Map<string, Use>();
  const note = (id: string, name: LimitName, used: number | null) => {
    if (workspaceId !== undefined && id !== workspaceId) return;
    uses.set(id, { ...uses.get(id), [name]: used });
  };
  const add = (id: string, name: LimitName, more: number) => note(id, name, (uses.get(id)?.[name] ?? 0) + more);
  const letters = await readLetters(needs);
  await needs.transact(async (tx) => {
    for (const row of await countUse(tx, needs.now(), workspaceId)) note(row.workspace_id, row.name, row.used);
    for (const [id, bytes] of await configBytes(tx, workspaceId)) note(id, 'configBytes', bytes);
    const asked = { ...(workspaceId && { workspaceId }), atLeast: Math.floor(leastHosts / TARGETS_EACH) };
    for (const [id, hosts] of await countHosts(tx, asked)) note(id, 'targetHosts', hosts);
    const owners = letters && (await destinationOwners(tx, [...letters.counts.keys()]));
    for (const { id, workspace_id } of owners ?? []) {
      add(workspace_id, 'deadLetterBytes', (letters?.counts.get(id) ?? 0) * (letters?.bytesEach ?? 0));
    }
  });
  for (const lane of needs.lanes?.all() ?? []) add(lane.workspaceId, 'laneBytes', lane.bytes);
  for (const [id, tails] of needs.process?.tails() ?? []) note(id, 'tails', tails);
  for (const [id, perSecond] of needs.process?.requests() ?? []) note(id, 'apiRequestsPerSecond', perSecond);
  if (letters === undefined && workspaceId !== undefined) note(workspaceId, 'deadLetterBytes', null);
  return uses;
}

type Letters = { counts: ReadonlyMap<string, number>; bytesEach: number };

/** NATS counts messages by destination and bytes of all: each letter counts as the average one. */
async function readLetters({ side }: UseNeeds): Promise<Letters | undefined> {
  const [counts, bytes] = await Promise.all([side.letterCounts(), side.letterBytes()]);
  if (counts === undefined || bytes === undefined) return undefined;
  const letters = counts.values().reduce((sum, count) => sum + count, 0);
  return { counts, bytesEach: letters === 0 ? 0 : bytes / letters };
}

/** The different hosts of each workspace's targets. */
export async function countHosts(tx: Tx, of: Parameters<typeof targetOrigins>[1]): Promise<Map<string, number>> {
  const hosts = new Map<string, Set<string>>();
  for (const { workspace_id, origin } of await targetOrigins(tx, of)) {
    const known = hosts.get(workspace_id) ?? new Set();
    known.add(hostOf(origin) ?? origin);
    hosts.set(workspace_id, known);
  }
  return new Map([...hosts].map(([id, known]) => [id, known.size]));
}

/** Every limit of a workspace, as the API shows it. */
export function toLimitUses(defaults: LimitValues, own: OwnLimits, use: Use): LimitUse[] {
  return LIMIT_NAMES.map((name) => {
    const { title, unit, raisedBy } = LIMITS[name];
    const most = own[name] ?? defaults[name];
    const exact = use[name] === undefined ? 0 : use[name];
    const used = exact === null ? null : Math.round(exact * 10) / 10;
    const standard = defaults[name] ?? null;
    const isOwn = own[name] !== undefined;
    const state = stateOf(used, most);
    return { name, title, unit, limit: most ?? null, default: standard, isOwn, used, state, raisedBy };
  });
}
