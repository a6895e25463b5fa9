/** The first minutes of a destination in one state and two sentences. */
import type { DestinationHealth } from '@millrace/contract/control';
import type { StateName } from '../../parts/state-mark.tsx';
import { counted } from '../../format/numbers.ts';

type First = { state: StateName; words: string; rest: string };

export function healthOf(health: Pick<DestinationHealth, 'lastHour' | 'lane'> | undefined): First {
  if (health === undefined) return { state: 'waiting', words: 'Enabled.', rest: 'Its first deliveries show here.' };
  const { delivered, retry, discarded, expired, skipped } = health.lastHour;
  const failed = retry + discarded + expired;
  if (failed === 0 && delivered > 0) {
    return { state: 'delivered', words: 'Healthy.', rest: `It took ${counted(delivered, 'delivery', 'deliveries')}.` };
  }
  if (failed > 0 && delivered === 0) {
    return { state: 'givenup', words: 'Failing.', rest: 'The receiver takes no delivery: look at its deliveries.' };
  }
  if (failed > 0) {
    return {
      state: 'retrying',
      words: 'Delivering, with failures.',
      rest: `It took ${counted(delivered, 'delivery', 'deliveries')}.`,
    };
  }
  const passed = skipped > 0 ? ` The rules held back ${counted(skipped, 'event')} so far.` : '';
  return { state: 'waiting', words: 'Enabled.', rest: `It waits for the first event that passes.${passed}` };
}

const LOOK_MS = 2_000;
/** Five minutes of looks. */
const MOST_LOOKS = 150;

/** The wizard looks until the destination is healthy; a page that stays open for long does not ask for ever. */
export function nextLookMs(health: Pick<DestinationHealth, 'lastHour' | 'lane'> | undefined, looks: number) {
  return healthOf(health).state === 'delivered' || looks >= MOST_LOOKS ? false : LOOK_MS;
}
