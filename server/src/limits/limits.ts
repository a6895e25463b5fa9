/**
 * Every limit of a workspace, in one table: its unit, its default with the setting that changes it, the role that enforces it and the
 * place where. The operator raises any of them for one workspace. `shares`: without a number the workspace has a share of what is
 * free (decisions 23 and 27), so its default is none.
 */
import type { LimitName } from '@millrace/contract/control';
import type { ProjectedLimits } from '../domain/configuration.ts';

export type Limit = {
  title: string;
  unit: string;
  kind: 'rate' | 'count' | 'bytes';
  /** 0: no number, only a share. */
  default: number;
  setting: `MILLRACE_LIMIT_${string}`;
  enforcedBy: 'collect' | 'control' | 'deliver';
  /** The file that refuses what is over it. */
  where: string;
  raisedBy: 'operator';
  /** The limit in a sentence, with # for its number: "The workspace may … ." */
  may: string;
};

export const LIMITS = {
  callsPerSecond: {
    title: 'Calls a second',
    unit: 'calls a second',
    kind: 'rate',
    default: 100_000,
    setting: 'MILLRACE_LIMIT_CALLS_PER_SECOND',
    enforcedBy: 'collect',
    where: 'collect/accept-calls.ts',
    raisedBy: 'operator',
    may: 'send # calls a second',
  },
  sources: {
    title: 'Sources',
    unit: 'sources',
    kind: 'count',
    default: 1_000,
    setting: 'MILLRACE_LIMIT_SOURCES',
    enforcedBy: 'control',
    where: 'control/limits/workspace-limits.ts',
    raisedBy: 'operator',
    may: 'have # sources',
  },
  destinations: {
    title: 'Destinations',
    unit: 'destinations',
    kind: 'count',
    default: 10_000,
    setting: 'MILLRACE_LIMIT_DESTINATIONS',
    enforcedBy: 'control',
    where: 'control/limits/workspace-limits.ts',
    raisedBy: 'operator',
    may: 'have # destinations',
  },
  targetHosts: {
    title: 'Different hosts of targets',
    unit: 'hosts',
    kind: 'count',
    default: 1_000,
    setting: 'MILLRACE_LIMIT_TARGET_HOSTS',
    enforcedBy: 'control',
    where: 'control/limits/workspace-limits.ts',
    raisedBy: 'operator',
    may: 'have targets at # different hosts',
  },
  configBytes: {
    title: 'Configuration',
    unit: 'bytes',
    kind: 'bytes',
    default: 0,
    setting: 'MILLRACE_LIMIT_CONFIG_BYTES',
    enforcedBy: 'control',
    where: 'control/settings/config-limits.ts',
    raisedBy: 'operator',
    may: 'have # bytes of configuration',
  },
  laneBytes: {
    title: 'Waiting deliveries',
    unit: 'bytes',
    kind: 'bytes',
    default: 0,
    setting: 'MILLRACE_LIMIT_LANE_BYTES',
    enforcedBy: 'deliver',
    where: 'stream/deliveries/shares.ts',
    raisedBy: 'operator',
    may: 'keep # bytes of waiting deliveries',
  },
  deadLetterBytes: {
    title: 'Dead letters',
    unit: 'bytes',
    kind: 'bytes',
    default: 0,
    setting: 'MILLRACE_LIMIT_DEAD_LETTER_BYTES',
    enforcedBy: 'deliver',
    where: 'stream/deliveries/shares.ts',
    raisedBy: 'operator',
    may: 'keep # bytes of dead letters',
  },
  jobs: {
    title: 'Replays and redrives that have not ended',
    unit: 'jobs',
    kind: 'count',
    default: 100,
    setting: 'MILLRACE_LIMIT_JOBS',
    enforcedBy: 'control',
    where: 'control/limits/workspace-limits.ts',
    raisedBy: 'operator',
    may: 'have # replays and redrives that have not ended',
  },
  tails: {
    title: 'Live tails',
    unit: 'tails',
    kind: 'count',
    default: 50,
    setting: 'MILLRACE_LIMIT_TAILS',
    enforcedBy: 'control',
    where: 'control/http/share-tails.ts',
    raisedBy: 'operator',
    may: 'have # live tails open',
  },
  apiRequestsPerSecond: {
    title: 'API requests a second',
    unit: 'requests a second',
    kind: 'rate',
    default: 500,
    setting: 'MILLRACE_LIMIT_API_REQUESTS_PER_SECOND',
    enforcedBy: 'control',
    where: 'control/http/limit-requests.ts',
    raisedBy: 'operator',
    may: 'send # requests a second to the API',
  },
} as const satisfies Record<LimitName, Limit>;

/** The number of each limit; undefined where only a share holds. */
export type LimitValues = Readonly<Record<LimitName, number | undefined>>;
/** The numbers that one workspace has instead of the defaults. */
export type OwnLimits = Readonly<Partial<Record<LimitName, number>>>;

/** The limits that collect and deliver enforce: they reach them with the sources of the workspace. */
export const PROJECTED_LIMITS = Object.keys(LIMITS).filter(isProjected);

function isProjected(name: string): name is keyof ProjectedLimits {
  return LIMITS[name as LimitName].enforcedBy !== 'control';
}

/** How many POSTs one host gets at a time and a second, of all deliver processes together; undefined for any number. */
export type HostCap = { attempts: number | undefined; perSecond: number | undefined };

/** From this part on a limit is near. */
export const NEAR = 0.8;

/** For the person who meets the limit: the limit, its number, and who can raise it. */
export function limitSentence(name: LimitName, most: number): string {
  const may = LIMITS[name].may.replace('#', most.toLocaleString('en'));
  return `The workspace may ${may}. The operator of this installation can raise this limit.`;
}

export function stateOf(used: number | null, most: number | undefined): 'below' | 'near' | 'reached' | 'unknown' {
  if (used === null) return 'unknown';
  if (most === undefined) return 'below';
  if (used >= most) return 'reached';
  return used >= most * NEAR ? 'near' : 'below';
}
