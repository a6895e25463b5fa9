/** A destination as text. Values of secrets never come from the API, so none can be printed. */
import { ruleText } from '@millrace/contract';
import type { Destination } from '@millrace/contract/control';
import { printFacts } from '../../output/table.ts';
import { timeText } from '../../output/times.ts';
import { tellProjection } from '../sources/tell-projection.ts';

type Target = { url: string; headers?: Record<string, unknown> };

export function targetsOf({ settings }: Destination): Target[] {
  return (settings['targets'] ?? []) as Target[];
}

export function stateOf({ enabled, paused }: Pick<Destination, 'enabled' | 'paused'>): string {
  if (!enabled) return 'disabled';
  return paused ? 'paused' : 'enabled';
}

export function tellDestination(destination: Destination): void {
  const { id, name, catalog, sourceId, filters, settings, pausedAt, projection } = destination;
  const { targets: _, sharedSecret, ...others } = settings;
  printFacts([
    ['Destination', name],
    ['Id', id],
    ['Kind', catalog],
    ['Source', sourceId],
    ['State', `${stateOf(destination)}${pausedAt === null ? '' : ` since ${timeText(pausedAt)}`}`],
    ['In effect', tellProjection(projection)],
    ...targetsOf(destination).map(({ url, headers = {} }, at) => {
      const names = Object.keys(headers);
      return [at === 0 ? 'URLs' : '', names.length === 0 ? url : `${url}  (headers: ${names.join(', ')})`] as const;
    }),
    ['Signing secret', sharedSecret === undefined ? 'none: requests are not signed' : 'set'],
    ...Object.entries(others).map(([field, value]) => [field, String(value)] as const),
    ...filters.map((rule, at) => [at === 0 ? 'Filters' : '', ruleText(rule)] as const),
  ]);
}
