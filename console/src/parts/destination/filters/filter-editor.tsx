/** The rules that an event has to pass, one below the other. */
import { NativeSelect, TextInput } from '@mantine/core';
import type { FilterOp } from '@millrace/contract';
import { useId } from 'react';
import { count } from '../../../format/numbers.ts';
import { visible } from '../../../format/texts.ts';
import { Button, IconButton } from '../../button.tsx';
import { Icon } from '../../icon.tsx';
import look from '../destination.module.css';
import { type DraftRule, emptyRule, isList, MOST_RULES, OP_WORDS, readRule, takesValue } from './rules.ts';

type FilterEditorProps = {
  rules: readonly DraftRule[];
  change(rules: DraftRule[]): void;
  /** Paths that the events of the source have. */
  fields: readonly string[];
  /** How many of the events each rule stops in the preview, by its key. */
  stops: ReadonlyMap<number, string>;
};

export function FilterEditor({ rules, change, fields, stops }: FilterEditorProps) {
  const list = useId();
  return (
    <div>
      <p className={`small dim ${look.mb}`}>
        {rules.length === 0
          ? 'Without a rule every event passes. Add one to send fewer.'
          : 'An event passes when all rules hold. Erasures always pass.'}
      </p>
      <datalist id={list}>
        {fields.map((field) => (
          <option key={field} value={field}>
            {visible(field)}
          </option>
        ))}
      </datalist>
      <div>
        {rules.map((rule, place) => (
          <RuleRow
            key={rule.key}
            list={list}
            place={place + 1}
            rule={rule}
            stop={stops.get(rule.key)}
            change={(next) => change(rules.map((other) => (other.key === rule.key ? next : other)))}
            remove={() => change(rules.filter(({ key }) => key !== rule.key))}
          />
        ))}
      </div>
      <div className="btns mt">
        <Button small disabled={rules.length >= MOST_RULES} onClick={() => change([...rules, emptyRule()])}>
          <Icon name="plus" />
          Add a rule
        </Button>
        {rules.length > 0 && (
          <span className="small dim">
            {count(rules.length)} of {MOST_RULES}
          </span>
        )}
      </div>
    </div>
  );
}

type RuleRowProps = {
  list: string;
  place: number;
  rule: DraftRule;
  stop: string | undefined;
  change(rule: DraftRule): void;
  remove(): void;
};

function RuleRow({ list, place, rule, stop, change, remove }: RuleRowProps) {
  const read = readRule(rule);
  const problem = read.ok || (rule.field === '' && rule.text === '') ? undefined : read;
  return (
    <div className={look.rule}>
      <TextInput
        className={`${look.mono} ${look.name}`}
        aria-label={`Field of rule ${place}`}
        placeholder="properties.total"
        list={list}
        autoComplete="off"
        spellCheck={false}
        maxLength={500}
        value={rule.field}
        error={problem?.at === 'field'}
        onChange={(event) => change({ ...rule, field: event.currentTarget.value })}
      />
      <IconButton label={`Remove rule ${place}`} onClick={remove}>
        <Icon name="x" />
      </IconButton>
      <NativeSelect
        aria-label={`Comparison of rule ${place}`}
        value={rule.op}
        data={Object.entries(OP_WORDS).map(([value, label]) => ({ value, label }))}
        onChange={(event) => change({ ...rule, op: event.currentTarget.value as FilterOp })}
      />
      {takesValue(rule.op) && (
        <TextInput
          className={`${look.mono} ${isList(rule.op) ? look.values : look.value}`}
          aria-label={`${isList(rule.op) ? 'Values' : 'Value'} of rule ${place}`}
          placeholder={isList(rule.op) ? 'track, identify' : '100'}
          autoComplete="off"
          spellCheck={false}
          value={rule.text}
          error={problem?.at === 'value'}
          onChange={(event) => change({ ...rule, text: event.currentTarget.value })}
        />
      )}
      <p className={`small dim ${look.cut}`}>{problem?.problem ?? stop ?? hintOf(rule)}</p>
    </div>
  );
}

function hintOf({ op }: DraftRule): string {
  if (isList(op)) return 'Commas between the values. Quotes make a text of a number: "5".';
  return op === 'equals' || op === 'not_equals' ? 'Quotes make a text of a number: "5".' : '';
}
