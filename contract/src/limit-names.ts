/** Apart from their schemas, so that a program that reads settings need not load those. */
export const LIMIT_NAMES = [
  'callsPerSecond',
  'sources',
  'destinations',
  'targetHosts',
  'configBytes',
  'laneBytes',
  'deadLetterBytes',
  'jobs',
  'tails',
  'apiRequestsPerSecond',
] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];
