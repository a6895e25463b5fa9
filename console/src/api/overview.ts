import type { Overview } from '@millrace/contract/control';
import { reading } from './queries.ts';

const STEP = 1_800;

/** The overview of the workspace: the navigation and the home screen read it together. */
export function readingOverview(every: number | false = false) {
  return reading<Overview>('/overview', { query: { step: STEP }, every });
}
