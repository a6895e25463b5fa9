import { BUGS_OF_ATTEMPTS } from './bugs-of-attempts.ts';
import { BUGS_OF_LANES } from './bugs-of-lanes.ts';
import { BUGS_OF_REQUESTS } from './bugs-of-requests.ts';
import { BUGS_OF_THE_RECORD } from './bugs-of-the-record.ts';
import type { PlantedBug } from './planted-bug.ts';

export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...BUGS_OF_REQUESTS,
  ...BUGS_OF_ATTEMPTS,
  ...BUGS_OF_LANES,
  ...BUGS_OF_THE_RECORD,
];
