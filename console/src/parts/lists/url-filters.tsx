/** Filters of a list. Each lives in the URL under its name, so a link shows the same rows. */
import { NativeSelect, TextInput } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import css from './url-filters.module.css';

const TYPING_MS = 400;

export type UrlSearch = Readonly<Record<string, string | undefined>>;

export function useUrlSearch(): UrlSearch {
  return useSearch({ strict: false });
}

/** Writes parameters into the URL; an empty or undefined one is taken away. */
export function useSetSearch(): (change: UrlSearch, isNewStep?: boolean) => void {
  const navigate = useNavigate();
  return (change, isNewStep = false) => {
    void navigate({
      to: '.',
      search: (before: object) => ({ ...before, ...change }),
      replace: !isNewStep,
      resetScroll: false,
    });
  };
}

/** `action` stands at the right end. */
export function FilterBar({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className={css.bar} role="search" aria-label="Filters">
      {children}
      {action !== undefined && <div className={css.action}>{action}</div>}
    </div>
  );
}

type TextFilterProps = { name: string; label: string; placeholder?: string; isMain?: boolean; maxLength?: number };

/** The URL follows the text when the person stops typing. `isMain` is the filter that the key `/` goes to. */
export function TextFilter({ name, label, placeholder, isMain = false, maxLength = 1_000 }: TextFilterProps) {
  const given = useUrlSearch()[name] ?? '';
  const set = useSetSearch();
  const [typed, setTyped] = useState<string | undefined>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const write = (text: string) => {
    clearTimeout(timer.current);
    if (text.trim() !== given) set({ [name]: text.trim(), show: undefined });
  };
  const type = (text: string) => {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => write(text), TYPING_MS);
  };
  const leave = () => {
    if (typed !== undefined) write(typed);
    setTyped(undefined);
  };
  return (
    <TextInput
      className={isMain ? css.wide : css.field}
      label={label}
      value={typed ?? given}
      maxLength={maxLength}
      onChange={(event) => type(event.currentTarget.value)}
      onBlur={leave}
      onKeyDown={({ key }) => key === 'Enter' && leave()}
      {...(placeholder === undefined ? {} : { placeholder })}
      {...(isMain ? { 'data-filter': '' } : {})}
    />
  );
}

export type Choice = { value: string; label: string };
type ChoiceFilterProps = {
  name: string;
  label: string;
  choices: readonly Choice[];
  all?: string;
  fallback?: string;
  /** Another parameter whose value belongs to this choice. */
  clears?: string;
};

/** `all` is the name of the choice that takes the filter away; without it, `fallback` is chosen at first. */
export function ChoiceFilter({ name, label, choices, all, fallback = '', clears = 'show' }: ChoiceFilterProps) {
  const given = useUrlSearch()[name] ?? fallback;
  const set = useSetSearch();
  const data = [...(all === undefined ? [] : [{ value: '', label: all }]), ...choices];
  // A value of a link that is no longer there stays visible: the list is filtered by it.
  const isKnown = given === '' || data.some(({ value }) => value === given);
  return (
    <NativeSelect
      className={css.field}
      label={label}
      data={isKnown ? data : [...data, { value: given, label: given }]}
      value={given}
      onChange={(event) => set({ [name]: event.currentTarget.value, show: undefined, [clears]: undefined })}
    />
  );
}
