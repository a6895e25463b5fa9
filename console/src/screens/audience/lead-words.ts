/** The sentence at the top of a definition's page: how many, how it stands, who is told what. */
import type { Definition } from '@millrace/contract/control';
import { count, counted } from '../../format/numbers.ts';
import { progressWords } from '../../parts/audience/definition-standing.ts';

export function leadWords(definition: Definition): string {
  const { state, name, kind, size, progress } = definition;
  const far = progressWords(progress);
  if (state === 'preparing') return `Millrace begins to count for ${name}.`;
  if (state === 'computing')
    return `Millrace counts the past for ${name}${far === undefined ? '' : `: ${far}`}. New events count already.`;
  if (state === 'deleting') return `${name} ends${far === undefined ? '' : `: ${far}`}.`;
  if (kind === 'trait') return `${counted(size, 'user has', 'users have')} a value of ${name} now.`;
  return size === 0 ? `Nobody is in ${name} now.` : `${counted(size, 'user is', 'users are')} in ${name} now.`;
}

/** The second sentence: the next step of Millrace, and the destinations that it tells. */
export function nextWords(definition: Definition, destinations: readonly string[]): string {
  const { state, kind, firstSyncWaiting, edit } = definition;
  const change = kind === 'audience' ? 'everybody who enters or leaves' : 'each new value';
  if (state === 'deleting') return 'Its key is never used again.';
  if (destinations.length === 0)
    return `No destination is attached, so nobody is told of ${change}. A destination that you attach gets all of them first.`;
  const whom = listed(destinations);
  if (state !== 'live')
    return `When it is live, ${whom} ${gets(destinations)} one identify call for each ${kind === 'audience' ? 'user in it' : 'user with a value'}.`;
  if (firstSyncWaiting > 0)
    return `First sync: ${counted(firstSyncWaiting, 'identify call waits', 'identify calls wait')} to be sent to ${whom}. New changes are sent meanwhile.`;
  if (edit !== null)
    return `Version ${edit.version} is computed beside it${edit.progress === null ? '' : ` (${progressWords(edit.progress) ?? ''})`}. Then only users whose ${kind === 'audience' ? 'membership' : 'value'} changes are told.`;
  return `${whom} ${gets(destinations)} an identify call for ${change}, and nothing else.`;
}

function gets(destinations: readonly string[]): string {
  return destinations.length === 1 ? 'gets' : 'get';
}

const MOST_NAMED = 3;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED);
  const rest = names.length - shown.length;
  if (rest > 0) return `${shown.join(', ')} and ${count(rest)} more`;
  return shown.length < 2 ? (shown[0] ?? '') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1) ?? ''}`;
}
