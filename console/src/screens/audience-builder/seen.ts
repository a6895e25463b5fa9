/** Suggestions out of the schemas of sources. */
import type { SourceSchema } from '@millrace/contract/control';
import type { SelectedType } from '../../parts/audience/draft/draft.ts';

type SchemaItem = SourceSchema['items'][number];

export type Seen = {
  /** Names of events of this type, the most frequent first. */
  names(type: SelectedType): string[];
  /** Paths of fields of these events; of numbers only, if asked for. */
  fields(type: SelectedType, event: string, onlyNumbers?: boolean): string[];
  traits: string[];
  /** Values that a field was seen with. */
  samples(field: string): string[];
};

const PLAIN = ['userId', 'anonymousId', 'groupId'];

export function seenIn(items: readonly SchemaItem[]): Seen {
  const ofType = (type: SelectedType) => items.filter((item) => item.type === (type === 'any' ? 'track' : type));
  return {
    names: (type) => byCount(ofType(type).flatMap(({ name, count }) => (name === null ? [] : [{ text: name, count }]))),
    fields(type, event, onlyNumbers = false) {
      const named = ofType(type).filter(({ name }) => name === event);
      const wanted = named.length > 0 ? named : ofType(type);
      const root = type === 'identify' ? 'traits' : 'properties';
      const paths = wanted.flatMap(({ properties }) =>
        properties
          .filter(({ types }) => !onlyNumbers || types.includes('number'))
          .map(({ path, count }) => ({ text: `${root}.${path}`, count })),
      );
      return onlyNumbers ? byCount(paths) : [...byCount(paths), ...PLAIN];
    },
    traits: byCount(
      ofType('identify').flatMap(({ properties }) => properties.map(({ path, count }) => ({ text: path, count }))),
    ),
    samples: (field) => samplesOf(items, field),
  };
}

function byCount(found: readonly { text: string; count: number }[]): string[] {
  const counts = new Map<string, number>();
  for (const { text, count } of found) counts.set(text, (counts.get(text) ?? 0) + count);
  return [...counts].toSorted(([, a], [, b]) => b - a).map(([text]) => text);
}

function samplesOf(items: readonly SchemaItem[], field: string): string[] {
  const path = field.replace(/^(properties|traits)\./, '');
  const samples = items.flatMap(({ properties }) => properties.filter((property) => property.path === path));
  return [...new Set(samples.flatMap((property) => property.samples.map(String)))].slice(0, 6);
}
