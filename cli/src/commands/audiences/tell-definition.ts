/** Audiences and computed traits for people. */
import type { Definition } from '@millrace/contract/control';
import { count, counted } from '@millrace/console/format/numbers';
import { printFacts } from '../../output/table.ts';
import { timeText, timeWithDistance } from '../../output/times.ts';

export function stateOf({ state, progress, edit }: Definition): string {
  const work = progress ?? edit?.progress ?? null;
  const share = work === null || work.total === null ? '' : ` (${count(work.done)} of ${count(work.total)})`;
  return edit === null ? `${state}${share}` : `${state}, version ${edit.version} ${edit.state}${share}`;
}

/** The condition, or the computation, as the API has it. */
export function ruleOf(definition: Definition): string {
  const { when, compute, type, event, where, window, between, field } = definition;
  if (when !== undefined) return JSON.stringify(when);
  const given = Object.entries({ type, event, where, window, between, field });
  return `${compute ?? ''} of ${JSON.stringify(Object.fromEntries(given.filter(([, value]) => value !== undefined)))}`;
}

export function tellDefinition(definition: Definition, names: ReadonlyMap<string, string>): void {
  const { id, kind, key, name, size, completeFrom, incompleteSince, firstSyncWaiting, missing } = definition;
  const nameOf = (each: string) => names.get(each) ?? each;
  printFacts([
    ['Id', id],
    ['Name', name],
    ['Kind', kind === 'audience' ? 'audience' : 'computed trait'],
    ['Key', key],
    ['State', stateOf(definition)],
    ['Size', kind === 'audience' ? counted(size, 'member') : counted(size, 'profile')],
    ['Rule', ruleOf(definition)],
    ['Sources', definition.sources === undefined ? 'all' : definition.sources.map(nameOf).join(', ')],
    ['Destinations', definition.destinations.map(nameOf).join(', ') || 'none'],
    ['Deleted', [...missing.sources, ...missing.destinations].join(', ') || undefined],
    ['Anonymous', definition.includeAnonymous ? 'told too' : undefined],
    ['Settles', definition.settleSeconds === 0 ? undefined : `${definition.settleSeconds} s before a change is told`],
    ['Complete from', completeFrom === null ? undefined : timeText(completeFrom)],
    ['Incomplete since', incompleteSince === null ? undefined : timeText(incompleteSince)],
    ['First sync', firstSyncWaiting === 0 ? undefined : `${counted(firstSyncWaiting, 'call')} to send`],
    ['Created', timeWithDistance(definition.createdAt)],
  ]);
}

export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
