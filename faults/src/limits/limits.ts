import type { LimitName } from '@millrace/contract/control';

/** Small enough for one workspace to reach all of them within seconds. */
export const LIMITS: Readonly<Record<LimitName, number>> = {
  callsPerSecond: 50,
  sources: 4,
  destinations: 12,
  targetHosts: 8,
  configBytes: 100_000,
  laneBytes: 500_000,
  deadLetterBytes: 500_000,
  jobs: 3,
  tails: 5,
  apiRequestsPerSecond: 20,
};
