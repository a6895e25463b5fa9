/** One condition: what somebody did, a trait that they have, or another audience that they are in. */
import type { Definition } from '@millrace/contract/control';
import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import { cutText, visible } from '../../format/texts.ts';
import type {
  Comparison,
  DraftAudience,
  DraftEvent,
  DraftLeaf,
  DraftTrait,
  Measured,
} from '../../parts/audience/draft/draft.ts';
import { IconButton } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import css from './builder.module.css';
import { Pick, Typed } from './picks.tsx';
import { ProblemLines, type Problems, problemsOf } from './problems.tsx';
import type { Seen } from './seen.ts';
import { EventFields, RuleFields, TimeFields, WhereFields } from './selection-fields.tsx';

export type Around = {
  seen: Seen;
  /** Audiences that a condition may ask for. */
  audiences: readonly Definition[];
  problems: ReadonlyMap<number, ReadonlyMap<string, string>>;
  /** Somebody tried to save: empty fields are wrong from now on. */
  isTried: boolean;
};

type LeafEditorProps = { leaf: DraftLeaf; around: Around; change(leaf: DraftLeaf): void; remove(): void };

export function LeafEditor({ leaf, around, change, remove }: LeafEditorProps) {
  const problems = problemsOf(
    { key: leaf.key, problems: around.problems.get(leaf.key), isTried: around.isTried },
    valuesOf(leaf),
  );
  return (
    <div className={css.leaf} data-wrong={problems.shown.length > 0 || undefined}>
      <div className={css.words}>
        {leaf.shape === 'event' && <EventLeaf leaf={leaf} around={around} problems={problems} change={change} />}
        {leaf.shape === 'trait' && <TraitLeaf leaf={leaf} around={around} problems={problems} change={change} />}
        {leaf.shape === 'audience' && <AudienceLeaf leaf={leaf} around={around} problems={problems} change={change} />}
        <ProblemLines problems={problems} />
      </div>
      <IconButton label="Remove the condition" onClick={remove}>
        <Icon name="x" />
      </IconButton>
    </div>
  );
}

/** What the fields hold, under the names that the API gives them. */
function valuesOf(leaf: DraftLeaf): Record<string, string> {
  if (leaf.shape === 'audience') return { audience: leaf.audience };
  if (leaf.shape === 'trait') return { trait: leaf.rule.field, value: leaf.rule.text, values: leaf.rule.text };
  const { selection, measured, field, number, upper } = leaf;
  const where = selection.where.flatMap((rule, place) => [
    [`where/${place}/field`, rule.field] as const,
    [`where/${place}/value`, rule.text] as const,
    [`where/${place}/values`, rule.text] as const,
  ]);
  return {
    event: selection.event,
    window: selection.length,
    'between/from': selection.from,
    'between/to': selection.to,
    [measured]: field,
    atLeast: number,
    lessThan: leaf.comparison === 'between' ? upper : number,
    exactly: number,
    // Problems of the whole condition, such as too many levels.
    '': 'whole',
    ...Object.fromEntries(where),
  };
}

const DID = { no: 'did', yes: 'did not do' } as const;
const HAS = { no: 'has', yes: 'has not' } as const;
const IS = { no: 'is in', yes: 'is not in' } as const;

type NotProps = { words: Readonly<Record<'no' | 'yes', string>>; isNot: boolean; change(isNot: boolean): void };

function Not({ words, isNot, change }: NotProps) {
  return (
    <Pick
      label="Whether it holds or not"
      value={isNot ? 'yes' : 'no'}
      choices={words}
      change={(next) => change(next === 'yes')}
    />
  );
}

type PartProps<Leaf> = { leaf: Leaf; around: Around; problems: Problems; change(leaf: Leaf): void };

const MEASURED_WORDS: Readonly<Record<Measured, string>> = {
  count: 'number of times',
  sum: 'sum of',
  average: 'average of',
  min: 'least',
  max: 'greatest',
};
const COMPARISON_WORDS: Readonly<Record<Comparison, string>> = {
  atLeast: 'at least',
  lessThan: 'less than',
  exactly: 'exactly',
  between: 'between',
};

function EventLeaf({ leaf, around: { seen }, problems, change }: PartProps<DraftEvent>): ReactNode {
  const { selection, measured, field } = leaf;
  const put = (part: Partial<DraftEvent>) => change({ ...leaf, ...part });
  return (
    <>
      <div className={css.line}>
        <Not words={DID} isNot={leaf.isNot} change={(isNot) => put({ isNot })} />
        <EventFields
          selection={selection}
          seen={seen}
          problems={problems}
          change={(next) => put({ selection: next })}
        />
      </div>
      <div className={css.line}>
        <Pick
          label="What is compared"
          value={measured}
          choices={MEASURED_WORDS}
          change={(next) => put({ measured: next })}
        />
        {measured !== 'count' && (
          <Typed
            label={`Field of the ${measured}`}
            look="field"
            placeholder="properties.revenue"
            value={field}
            suggestions={seen.fields(selection.type, selection.event, true)}
            wrong={problems.idOf(measured, field)}
            change={(next) => put({ field: next })}
          />
        )}
        <Bounds leaf={leaf} problems={problems} change={change} />
        <TimeFields selection={selection} problems={problems} change={(next) => put({ selection: next })} />
      </div>
      <WhereFields selection={selection} seen={seen} problems={problems} change={(next) => put({ selection: next })} />
    </>
  );
}

function Bounds({ leaf, problems, change }: Omit<PartProps<DraftEvent>, 'around'>) {
  const { comparison, number, upper } = leaf;
  return (
    <>
      <Pick
        label="Comparison"
        value={comparison}
        choices={COMPARISON_WORDS}
        change={(next) => change({ ...leaf, comparison: next })}
      />
      <Typed
        label="Number"
        look="number"
        value={number}
        wrong={problems.idOf(comparison === 'between' ? 'atLeast' : comparison, number)}
        change={(next) => change({ ...leaf, number: next })}
      />
      {comparison === 'between' && (
        <Typed
          label="Number that it stays below"
          look="number"
          value={upper}
          wrong={problems.idOf('lessThan', upper)}
          change={(next) => change({ ...leaf, upper: next })}
        />
      )}
    </>
  );
}

function TraitLeaf({ leaf, around: { seen }, problems, change }: PartProps<DraftTrait>) {
  const { rule } = leaf;
  return (
    <div className={css.line}>
      <Not words={HAS} isNot={leaf.isNot} change={(isNot) => change({ ...leaf, isNot })} />
      <span>the trait</span>
      <RuleFields
        rule={rule}
        label="the trait"
        placeholder="plan"
        fields={seen.traits}
        samples={seen.samples(rule.field)}
        wrongField={problems.idOf('trait', rule.field)}
        wrongValue={problems.idOf('value', rule.text) ?? problems.idOf('values', rule.text)}
        change={(next) => change({ ...leaf, rule: next })}
      />
    </div>
  );
}

function AudienceLeaf({ leaf, around: { audiences }, problems, change }: PartProps<DraftAudience>) {
  const wrong = problems.idOf('audience', leaf.audience);
  const isKnown = leaf.audience === '' || audiences.some(({ id }) => id === leaf.audience);
  return (
    <div className={css.line}>
      <Not words={IS} isNot={leaf.isNot} change={(isNot) => change({ ...leaf, isNot })} />
      <NativeSelect
        className={css.name ?? ''}
        aria-label="Audience"
        value={leaf.audience}
        error={wrong !== undefined}
        {...(wrong === undefined ? {} : { 'aria-describedby': wrong })}
        data={[
          { value: '', label: 'choose an audience' },
          ...(isKnown ? [] : [{ value: leaf.audience, label: `deleted (${leaf.audience})` }]),
          ...audiences.map(({ id, name }) => ({ value: id, label: cutText(visible(name), 60) })),
        ]}
        onChange={(event) => change({ ...leaf, audience: event.currentTarget.value })}
      />
    </div>
  );
}
