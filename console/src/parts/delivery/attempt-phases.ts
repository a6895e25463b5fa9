/** The phases of one POST from its timings. `firstByteMs` and `totalMs` count from its start, the others are lengths. Pure. */
import type { DeliveryAttempt } from '@millrace/contract/control';
import type { StateName } from '../state-mark.tsx';
import type { Phase } from '../waterfall.tsx';

export type Answer = DeliveryAttempt['answers'][number];
type Told = Pick<Answer, 'url' | 'timings'> & { errorClass?: string };

/** Each URL has this long, from the start of the request to the end of the response's head. */
export const ALLOWED_MS = 5_000;

export function phasesOf(answer: Told): { phases: Phase[]; isReused: boolean } {
  const { dnsMs, connectMs, tlsMs, firstByteMs, totalMs } = answer.timings;
  if (firstByteMs === undefined) return { phases: failedPhases(answer), isReused: false };
  const opening = [
    { name: 'DNS', ms: dnsMs },
    { name: 'Connect', ms: connectMs },
    { name: 'TLS', ms: tlsMs },
  ].filter(({ ms }) => ms !== undefined);
  const rest = Math.max(0, firstByteMs - sumOf(opening));
  const phases = [
    ...opening,
    { name: 'First byte', ms: rest },
    { name: 'Read', ms: Math.max(0, totalMs - firstByteMs) },
  ];
  return { phases, isReused: connectMs === undefined };
}

/** The phase in which it failed took the rest of the time; the later ones were not reached. */
function failedPhases({ url, timings, errorClass = '' }: Told): Phase[] {
  const { dnsMs, connectMs, tlsMs, totalMs } = timings;
  const isTls = url.startsWith('https:');
  const hasDns = dnsMs !== undefined || errorClass.startsWith('dns_');
  const all: Phase[] = [
    ...(hasDns ? [{ name: 'DNS', ms: dnsMs }] : []),
    { name: 'Connect', ms: connectMs },
    ...(isTls ? [{ name: 'TLS', ms: tlsMs }] : []),
    { name: 'First byte', ms: undefined },
  ];
  const failedAt = errorClass.startsWith('dns_') ? 0 : all.findIndex(({ ms }) => ms === undefined);
  const before = sumOf(all.slice(0, failedAt));
  return all.map((phase, place) => (place === failedAt ? { ...phase, ms: Math.max(0, totalMs - before) } : phase));
}

function sumOf(phases: readonly Phase[]): number {
  return phases.reduce((sum, { ms }) => sum + (ms ?? 0), 0);
}

const FINAL_ERRORS = new Set(['address_forbidden', 'url_invalid']);

/** How deliver reads one answer: taken, to be tried again, or refused for good. */
export function answerState({ status, errorClass }: Pick<Answer, 'status' | 'errorClass'>): StateName {
  if (status === undefined) return FINAL_ERRORS.has(errorClass ?? '') ? 'givenup' : 'retrying';
  if (status >= 200 && status < 300) return 'delivered';
  return status >= 500 || status === 408 || status === 429 ? 'retrying' : 'givenup';
}
