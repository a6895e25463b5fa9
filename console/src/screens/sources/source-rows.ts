/** Puts together what several endpoints know of each source. */
import type { Destination, Refusals, Source, Usage } from '@millrace/contract/control';
import type { Static } from 'typebox';

export type UsageOf = Static<typeof Usage>;
export type RefusalsOf = Static<typeof Refusals>;
export type DestinationOf = Static<typeof Destination>;

export type SourceRow = {
  source: Source;
  /** When one of its write keys was used last, to the minute or two. */
  lastCallAt: string | undefined;
  /** Of this month; undefined while it is not known. */
  calls: number | undefined;
  /** Of the last seven days; undefined while it is not known. */
  refused: number | undefined;
  /** The most frequent reason. */
  refusedAs: string | undefined;
  destinations: DestinationOf[] | undefined;
};

type Parts = {
  sources: readonly Source[];
  usage: UsageOf | undefined;
  refusals: ReadonlyMap<string, RefusalsOf>;
  destinations: readonly DestinationOf[] | undefined;
};

export function sourceRows({ sources, usage, refusals, destinations }: Parts): SourceRow[] {
  return sources.map((source) => {
    const refused = refusals.get(source.id);
    const calls = usage?.sources.find(({ sourceId }) => sourceId === source.id)?.calls ?? 0;
    return {
      source,
      lastCallAt: lastUse(source),
      calls: usage === undefined ? undefined : calls,
      refused: refused?.items.reduce((sum, { count }) => sum + count, 0),
      refusedAs: refused === undefined ? undefined : mostFrequent(refused),
      destinations: destinations?.filter(({ sourceId }) => sourceId === source.id),
    };
  });
}

export function lastUse({ writeKeys }: Source): string | undefined {
  const times = writeKeys.flatMap(({ lastUsedAt }) => (lastUsedAt === null ? [] : [lastUsedAt]));
  return times.sort().at(-1);
}

export function mostFrequent({ items }: RefusalsOf): string | undefined {
  const counts = new Map<string, number>();
  for (const { code, count } of items) counts.set(code, (counts.get(code) ?? 0) + count);
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0];
}

/** By name or id; upper and lower case are the same. */
export function matching(rows: readonly SourceRow[], filter: string): SourceRow[] {
  const wanted = filter.trim().toLowerCase();
  return rows.filter(({ source: { id, name } }) => name.toLowerCase().includes(wanted) || id.toLowerCase() === wanted);
}
