/** The stored events of a source, sorted as deliver would sort them with rules that are not saved yet. */
import { useDebouncedValue } from '@mantine/hooks';
import { ruleText } from '@millrace/contract/filter-rule';
import type { DestinationPreview, SourceSchema } from '@millrace/contract/control';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { reading } from '../../../api/queries.ts';
import { useMay } from '../../../api/session.tsx';
import { count } from '../../../format/numbers.ts';
import { asking } from '../asking.ts';
import { type DraftRule, PLAIN_FIELDS, readRule, wholeRules } from './rules.ts';

const QUIET_MS = 400;

type Wanted = { sourceId: string; rules: readonly DraftRule[]; bodyFormat: string; last: number };

export function usePreview({ sourceId, rules, bodyFormat, last }: Wanted) {
  const mayRead = useMay('payloads:read');
  const body = JSON.stringify({ sourceId, filters: wholeRules(rules), settings: { bodyFormat }, last });
  const [settled] = useDebouncedValue(body, QUIET_MS);
  const wanted = JSON.parse(settled) as { sourceId: string };
  const isKnown = sourceId !== '' && wanted.sourceId === sourceId;
  return useQuery({
    ...asking<DestinationPreview>('/destinations/preview', wanted, mayRead && isKnown),
    placeholderData: keepPreviousData,
  });
}

/** The fields that rules can name, those of the source's own events included. */
export function useFields(sourceId: string): string[] {
  const mayRead = useMay('sources:read');
  const schema = useQuery(
    reading<SourceSchema>(`/sources/${sourceId}/schema`, { enabled: mayRead && sourceId !== '' }),
  );
  const paths = (schema.data?.items ?? []).flatMap(({ type, properties }) =>
    properties.map(({ path }) => `${type === 'identify' || type === 'group' ? 'traits' : 'properties'}.${path}`),
  );
  return [...PLAIN_FIELDS, ...new Set(paths)];
}

/** "stops 41 of 200", by the key of each rule. The preview counts an event at the first rule that it breaks. */
export function stopsOf(rules: readonly DraftRule[], preview: DestinationPreview | undefined): Map<number, string> {
  const stops = new Map<number, string>();
  if (preview === undefined) return stops;
  for (const draft of rules) {
    const read = readRule(draft);
    if (!read.ok) continue;
    const text = ruleText(read.rule);
    const stopped = preview.skipped.by.find(({ rule }) => rule === text)?.count ?? 0;
    stops.set(draft.key, `stops ${count(stopped)} of ${count(preview.looked.events)}`);
  }
  return stops;
}
