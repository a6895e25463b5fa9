/** Filters of a list. Each lives in the URL under its own name, so a link shows the same rows. */
import { NativeSelect, TextInput } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { cutText, visible } from '../format/texts.ts';
import styles from './filters.module.css';
import { useSearchChange } from './use-search-change.ts';

const TYPING_MS = 300;

export function Filters({ children }: { children: ReactNode }) {
  return (
    <search className={styles['filters']} aria-label="Filters">
      {children}
    </search>
  );
}

/** The value of one parameter of the URL, and the way to change it. */
function useParameter(name: string): [string, (value: string) => void] {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>;
  const change = useSearchChange();
  return [search[name] ?? '', (value) => change({ [name]: value.trim() }, { replace: true })];
}

type FilterTextProps = {
  name: string;
  label: string;
  placeholder?: string;
  /** The key `/` goes to the first filter of the page. */
  isFirst?: boolean;
  suggestions?: readonly string[];
};

export function FilterText({ name, label, placeholder, isFirst = false, suggestions = [] }: FilterTextProps) {
  const list = useId();
  const [value, setValue] = useParameter(name);
  const [typed, setTyped] = useState<string | undefined>();
  useEffect(() => {
    if (typed === undefined) return undefined;
    const timer = setTimeout(() => {
      setValue(typed);
      setTyped(undefined);
    }, TYPING_MS);
    return () => clearTimeout(timer);
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- a new function each time; only typing starts the timer
  }, [typed]);
  return (
    <>
      <TextInput
        className={styles['text'] ?? ''}
        aria-label={label}
        placeholder={placeholder ?? label}
        value={typed ?? value}
        autoComplete="off"
        maxLength={1_000}
        data-filter={isFirst || undefined}
        {...(suggestions.length === 0 ? {} : { list })}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      {suggestions.length > 0 && (
        <datalist id={list}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion}>
              {suggestion}
            </option>
          ))}
        </datalist>
      )}
    </>
  );
}

export type Choice = { value: string; label: string };

export function FilterChoice({ name, label, choices }: { name: string; label: string; choices: readonly Choice[] }) {
  const [value, setValue] = useParameter(name);
  const isKnown = value === '' || choices.some((choice) => choice.value === value);
  const all = isKnown ? choices : [...choices, { value, label: cutText(visible(value), 60) }];
  return (
    <NativeSelect
      className={styles['choice'] ?? ''}
      aria-label={label}
      value={value}
      data={[...all]}
      data-chosen={value !== '' || undefined}
      onChange={(event) => setValue(event.currentTarget.value)}
    />
  );
}
