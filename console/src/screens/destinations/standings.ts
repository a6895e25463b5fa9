/** Destinations with their health: which of them a filter shows, in which order, and the sentence about all. Pure. */
import type { Destination, DestinationHealth } from '@millrace/contract/control';
import { counted } from '../../format/numbers.ts';
import { listed } from '../../format/listed.ts';
import { capital } from '../../format/sentences.ts';
import { cutText, visible } from '../../format/texts.ts';
import type { StateName } from '../../parts/state-mark.tsx';
import { targetsOf } from '../../parts/destination/health/destination-facts.ts';
import type { Told } from '../../parts/destination/health/tell-health.ts';

/** `told` is undefined until the health was read. */
export type Standing = {
  destination: Destination;
  health: DestinationHealth | undefined;
  told: Told | undefined;
};

export const STATE_CHOICES = [
  { value: '', label: 'Any state' },
  { value: 'givenup', label: 'Failing or rejecting' },
  { value: 'waiting', label: 'Waiting or recovering' },
  { value: 'delivered', label: 'Healthy' },
  { value: 'paused', label: 'Paused' },
  { value: 'skipped', label: 'Quiet or disabled' },
] as const;

const URGENCY: readonly StateName[] = ['givenup', 'retrying', 'waiting', 'paused', 'delivered', 'skipped'];
const NAMED = 3;
const LONG_LIST = 20;
const LONG_LIST_MS = 60_000;

/** Each row has reads of its own, so a long list reads them less often. */
export function rowEveryMs(rows: number, usualMs: number): number {
  return rows > LONG_LIST ? LONG_LIST_MS : usualMs;
}

export function choose(all: readonly Standing[], { filter, state }: { filter: string; state: string }): Standing[] {
  const wanted = filter.toLowerCase();
  return all
    .filter(({ destination, told }) => hasText(destination, wanted) && (state === '' || isState(told?.state, state)))
    .toSorted((one, other) => urgency(one) - urgency(other));
}

function isState(found: StateName | undefined, wanted: string): boolean {
  return found === wanted || (wanted === 'waiting' && found === 'retrying');
}

function hasText(destination: Destination, wanted: string): boolean {
  const texts = [destination.name, destination.id, ...targetsOf(destination).map(({ url }) => url)];
  return wanted === '' || texts.some((text) => text.toLowerCase().includes(wanted));
}

function urgency({ told }: Standing): number {
  return told === undefined ? URGENCY.length : URGENCY.indexOf(told.state);
}

type Lead = { state?: { name: StateName; words: string }; sentence: string };

/** "12 destinations", or "the first 100 destinations" while more pages follow. */
export function totalOf(all: readonly Standing[], hasMore: boolean): string {
  return `${hasMore ? 'the first ' : ''}${counted(all.length, 'destination')}`;
}

export function leadOf(all: readonly Standing[], hasMore: boolean): Lead {
  const total = totalOf(all, hasMore);
  const givenUp = all.filter(({ told }) => told?.state === 'givenup');
  const troubled = [...givenUp, ...all.filter(({ told }) => told?.state === 'retrying')];
  const paused = all.filter(({ told }) => told?.state === 'paused').length;
  const pausedText = paused === 0 ? '' : ` ${counted(paused, 'is', 'are')} paused.`;
  if (all.some(({ told }) => told === undefined)) return { sentence: `${capital(total)}.` };
  if (troubled.length === 0) {
    if (paused > 0) {
      const words = hasMore ? `None of ${total} fails.` : 'Nothing fails.';
      return { state: { name: 'delivered', words }, sentence: pausedText.trim() };
    }
    const everyOne = hasMore ? capital(total) : `All ${total}`;
    const words = all.length === 1 && !hasMore ? 'Your destination is well.' : `${everyOne} are well.`;
    return { state: { name: 'delivered', words }, sentence: '' };
  }
  const names = troubled
    .slice(0, NAMED)
    .map(({ destination, told }) => `${cutText(visible(destination.name), 40)} (${told?.word.toLowerCase()})`);
  const rest = troubled.length > NAMED ? [`${troubled.length - NAMED} more`] : [];
  const verb = troubled.length === 1 ? 'needs' : 'need';
  return {
    state: {
      name: givenUp.length === 0 ? 'retrying' : 'givenup',
      words: `${troubled.length} of ${total} ${verb} you:`,
    },
    sentence: `${listed([...names, ...rest])}.${pausedText}`,
  };
}
