import type { RunReport } from './run-seed.ts';

/** Leaves out one kind of faults after the other, as long as the run still breaks an invariant. */
export async function shrink(
  failed: RunReport,
  rerun: (kinds: readonly string[]) => Promise<RunReport>,
): Promise<RunReport> {
  let smallest = failed;
  for (const kind of failed.kinds) {
    const without = await rerun(smallest.kinds.filter((each) => each !== kind));
    if (without.violations.length > 0) smallest = without;
  }
  return smallest;
}
