/** The small controls that conditions are made of. Each has a name of its own for those who do not see where it stands. */
import { NativeSelect, TextInput } from '@mantine/core';
import { useId } from 'react';
import { visible } from '../../format/texts.ts';
import css from './builder.module.css';

type ChoiceProps<Value extends string> = {
  label: string;
  value: Value;
  choices: Readonly<Record<Value, string>>;
  change(value: Value): void;
};

export function Pick<Value extends string>({ label, value, choices, change }: ChoiceProps<Value>) {
  return (
    <NativeSelect
      aria-label={label}
      value={value}
      data={Object.entries<string>(choices).map(([each, words]) => ({ value: each, label: words }))}
      onChange={(event) => change(event.currentTarget.value as Value)}
    />
  );
}

type TypedProps = {
  label: string;
  value: string;
  change(value: string): void;
  look: 'name' | 'field' | 'value' | 'number' | 'length' | 'time';
  placeholder?: string;
  suggestions?: readonly string[];
  /** The id of the text that says what is wrong with it. */
  wrong?: string | undefined;
  type?: 'text' | 'datetime-local';
};

const MOST_SUGGESTIONS = 100;

export function Typed({ label, value, change, look, placeholder, suggestions = [], wrong, type = 'text' }: TypedProps) {
  const list = useId();
  const isNumber = look === 'number' || look === 'length';
  return (
    <>
      <TextInput
        className={`${css[look]} ${look === 'field' ? css.mono : ''}`}
        aria-label={label}
        type={type}
        value={value}
        maxLength={1_000}
        autoComplete="off"
        spellCheck={false}
        error={wrong !== undefined}
        {...(wrong === undefined ? {} : { 'aria-describedby': wrong })}
        {...(placeholder === undefined ? {} : { placeholder })}
        {...(isNumber ? { inputMode: 'decimal' as const } : {})}
        {...(suggestions.length === 0 ? {} : { list })}
        onChange={(event) => change(event.currentTarget.value)}
      />
      {suggestions.length > 0 && (
        <datalist id={list}>
          {suggestions.slice(0, MOST_SUGGESTIONS).map((each) => (
            <option key={each} value={each}>
              {visible(each)}
            </option>
          ))}
        </datalist>
      )}
    </>
  );
}
