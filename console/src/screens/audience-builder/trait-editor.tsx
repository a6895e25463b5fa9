/** A computed trait: what is computed, of which events. */
import { type Computation } from '@millrace/contract/audiences';
import type { Draft } from '../../parts/audience/draft/draft.ts';
import css from './builder.module.css';
import { Pick, Typed } from './picks.tsx';
import { ProblemLines, problemsOf } from './problems.tsx';
import type { Seen } from './seen.ts';
import { EventFields, TimeFields, WhereFields } from './selection-fields.tsx';

const COMPUTATION_WORDS: Readonly<Record<Computation, string>> = {
  count: 'number of events',
  sum: 'sum of a field',
  average: 'average of a field',
  min: 'least value of a field',
  max: 'greatest value of a field',
  first: 'first value of a field',
  last: 'last value of a field',
  most_frequent: 'most frequent value of a field',
  unique_list: 'list of different values',
  unique_count: 'number of different values',
};
const OF_NUMBERS: ReadonlySet<Computation> = new Set(['sum', 'average', 'min', 'max']);

type TraitEditorProps = {
  draft: Draft;
  seen: Seen;
  problems: ReadonlyMap<string, string>;
  isTried: boolean;
  put(part: Partial<Draft>): void;
};

export function TraitEditor({ draft, seen, problems: found, isTried, put }: TraitEditorProps) {
  const { compute, computed, field } = draft;
  const own = new Map([...found].filter(([name]) => name !== 'name' && name !== 'settleSeconds'));
  const where = computed.where.flatMap((rule, place) => [
    [`where/${place}/field`, rule.field] as const,
    [`where/${place}/value`, rule.text] as const,
    [`where/${place}/values`, rule.text] as const,
  ]);
  const problems = problemsOf(
    { key: 'trait', problems: own, isTried },
    {
      field,
      event: computed.event,
      window: computed.length,
      'between/from': computed.from,
      'between/to': computed.to,
      ...Object.fromEntries(where),
    },
  );
  const isOrdered = compute === 'first' || compute === 'last';
  const fields = seen.fields(computed.type, computed.event, OF_NUMBERS.has(compute));
  const change = (next: Draft['computed']) => put({ computed: next });
  return (
    <div className={css.words}>
      <div className={css.line}>
        <Pick
          label="What is computed"
          value={compute}
          choices={COMPUTATION_WORDS}
          change={(next) => put({ compute: next })}
        />
        {compute !== 'count' && (
          <Typed
            label="Field that is computed"
            look="field"
            placeholder="properties.revenue"
            value={field}
            suggestions={isOrdered ? ['timestamp', ...fields] : fields}
            wrong={problems.idOf('field', field)}
            change={(next) => put({ field: next })}
          />
        )}
      </div>
      <div className={css.line}>
        <span>of</span>
        <EventFields selection={computed} seen={seen} problems={problems} change={change} />
        <TimeFields selection={computed} problems={problems} change={change} />
      </div>
      <WhereFields selection={computed} seen={seen} problems={problems} change={change} />
      <ProblemLines problems={problems} />
    </div>
  );
}
