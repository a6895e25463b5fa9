/** Which events: their type and name, the rules on their fields, and how long they count. */
import { MAX_WHERE_RULES } from '@millrace/contract/audiences';
import type { DraftSelection, SelectedType, TimeMode, Unit } from '../../parts/audience/draft/draft.ts';
import { isNameless } from '../../parts/audience/draft/read-draft.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { type DraftRule, emptyRule, isList, OP_WORDS, takesValue } from '../../parts/destination/filters/rules.ts';
import { Icon } from '../../parts/icon.tsx';
import css from './builder.module.css';
import { Pick, Typed } from './picks.tsx';
import type { Problems } from './problems.tsx';
import type { Seen } from './seen.ts';

const TYPE_WORDS: Readonly<Record<SelectedType, string>> = {
  track: 'event',
  any: 'any event',
  page: 'page',
  screen: 'screen',
  identify: 'identify call',
};

type PartProps = {
  selection: DraftSelection;
  change(selection: DraftSelection): void;
  seen: Seen;
  problems: Problems;
};

/** The type and the name. */
export function EventFields({ selection, change, seen, problems }: PartProps) {
  const { type, event } = selection;
  return (
    <>
      <Pick label="Type" value={type} choices={TYPE_WORDS} change={(next) => change({ ...selection, type: next })} />
      {!isNameless(type) && (
        <Typed
          label={`Name of the ${TYPE_WORDS[type]}`}
          look="name"
          placeholder={type === 'track' ? 'Order Completed' : `any ${TYPE_WORDS[type]}`}
          value={event}
          suggestions={seen.names(type)}
          wrong={problems.idOf('event', event)}
          change={(next) => change({ ...selection, event: next })}
        />
      )}
    </>
  );
}

const TIME_WORDS: Readonly<Record<TimeMode, string>> = {
  window: 'in the last',
  between: 'between',
  ever: 'at any time',
};
const UNIT_WORDS: Readonly<Record<Unit, string>> = { m: 'minutes', h: 'hours', d: 'days' };

/** How long events count. */
export function TimeFields({ selection, change, problems }: Omit<PartProps, 'seen'>) {
  const { time, length, unit, from, to } = selection;
  return (
    <div className={css.together}>
      <Pick label="Time" value={time} choices={TIME_WORDS} change={(next) => change({ ...selection, time: next })} />
      {time === 'window' && (
        <>
          <Typed
            label="Length of the window"
            look="length"
            value={length}
            wrong={problems.idOf('window', length)}
            change={(next) => change({ ...selection, length: next })}
          />
          <Pick
            label="Unit of the window"
            value={unit}
            choices={UNIT_WORDS}
            change={(next) => change({ ...selection, unit: next })}
          />
        </>
      )}
      {time === 'between' && (
        <>
          <Typed
            label="From"
            look="time"
            type="datetime-local"
            value={from}
            wrong={problems.idOf('between/from', from)}
            change={(next) => change({ ...selection, from: next })}
          />
          <span>and</span>
          <Typed
            label="Until"
            look="time"
            type="datetime-local"
            value={to}
            wrong={problems.idOf('between/to', to)}
            change={(next) => change({ ...selection, to: next })}
          />
        </>
      )}
    </div>
  );
}

/** Rules on fields of the events, and the button for one more. */
export function WhereFields({ selection, change, seen, problems }: PartProps) {
  const { type, event, where } = selection;
  const put = (next: DraftRule[]) => change({ ...selection, where: next });
  const fields = seen.fields(type, event);
  return (
    <>
      {where.map((rule, place) => (
        <div key={rule.key} className={`${css.line} ${css.rule}`}>
          <span className="small">{place === 0 ? 'where' : 'and'}</span>
          <RuleFields
            rule={rule}
            label={`rule ${place + 1}`}
            fields={fields}
            samples={seen.samples(rule.field)}
            wrongField={problems.idOf(`where/${place}/field`, rule.field)}
            wrongValue={
              problems.idOf(`where/${place}/value`, rule.text) ?? problems.idOf(`where/${place}/values`, rule.text)
            }
            change={(next) => put(where.map((each) => (each.key === rule.key ? next : each)))}
          />
          <IconButton
            label={`Remove rule ${place + 1}`}
            onClick={() => put(where.filter(({ key }) => key !== rule.key))}
          >
            <Icon name="x" />
          </IconButton>
        </div>
      ))}
      <div>
        <Button
          small
          look="quiet"
          disabled={where.length >= MAX_WHERE_RULES}
          onClick={() => put([...where, emptyRule()])}
        >
          <Icon name="plus" />
          where
        </Button>
      </div>
    </>
  );
}

type RuleFieldsProps = {
  rule: DraftRule;
  label: string;
  fields: readonly string[];
  samples: readonly string[];
  wrongField: string | undefined;
  wrongValue: string | undefined;
  placeholder?: string;
  change(rule: DraftRule): void;
};

/** A field, a comparison and a value: of a rule, or of a trait. */
export function RuleFields(props: RuleFieldsProps) {
  const { rule, label, fields, samples, wrongField, wrongValue, change, placeholder = 'properties.currency' } = props;
  return (
    <>
      <Typed
        label={`Field of ${label}`}
        look="field"
        placeholder={placeholder}
        value={rule.field}
        suggestions={fields}
        wrong={wrongField}
        change={(field) => change({ ...rule, field })}
      />
      <Pick
        label={`Comparison of ${label}`}
        value={rule.op}
        choices={OP_WORDS}
        change={(op) => change({ ...rule, op })}
      />
      {takesValue(rule.op) && (
        <Typed
          label={`${isList(rule.op) ? 'Values' : 'Value'} of ${label}`}
          look="value"
          placeholder={isList(rule.op) ? 'pro, team' : ''}
          value={rule.text}
          suggestions={isList(rule.op) ? [] : samples}
          wrong={wrongValue}
          change={(text) => change({ ...rule, text })}
        />
      )}
    </>
  );
}
