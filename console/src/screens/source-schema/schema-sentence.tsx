import type { Source, SourceSchema } from '@millrace/contract/control';
import type { ReactNode } from 'react';
import { count, counted } from '../../format/numbers.ts';
import { Sentence } from '../../parts/sentence.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { isMixed, type SchemaItem } from './schema-rows.ts';

type SchemaSentenceProps = {
  source: Source;
  schema: SourceSchema | undefined;
  rows: readonly SchemaItem[];
  actions: ReactNode;
};

export function SchemaSentence({ source, schema, rows, actions }: SchemaSentenceProps) {
  const name = <OuterText text={source.name} most={60} />;
  if (schema === undefined) return <Sentence>The schema of {name}</Sentence>;
  const blocked = rows.filter((row) => row.blocked).length;
  const mixed = rows.reduce((sum, { properties }) => sum + properties.filter(isMixed).length, 0);
  const { lookedAt, from, to, itemsLeftOut } = schema;
  return (
    <Sentence
      actions={actions === false ? undefined : actions}
      then={
        lookedAt.events > 0 && (
          <>
            Counts and properties are of the latest {counted(lookedAt.events, 'stored event')}, <TimeText at={from} />{' '}
            to <TimeText at={to} />.
            {mixed > 0 && ` ${counted(mixed, 'property has', 'properties have')} more than one type.`}
            {itemsLeftOut > 0 && ` ${counted(itemsLeftOut, 'more name')} of them are not shown.`}
          </>
        )
      }
    >
      {name} sends {counted(rows.length, 'kind')} of calls.{' '}
      {blocked > 0 && `${count(blocked)} ${blocked === 1 ? 'is' : 'are'} blocked: stored, and sent to no destination.`}
    </Sentence>
  );
}
