import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../server/testing/until.ts';

const LOOK_MS = 500;
const PATIENCE_MS = 3_600_000;

/** Looks twice a second: a question to PostgreSQL costs CPU time that is measured. */
export async function waitFor(isTrue: () => Promise<boolean>): Promise<void> {
  await until(async () => {
    await sleep(LOOK_MS);
    return isTrue();
  }, PATIENCE_MS);
}
