/** What is wrong with one condition, by field. An empty field is wrong only after somebody tried to save. */
import css from './builder.module.css';

export type Problems = {
  /** The id of the message about a field, for `aria-describedby`. */
  idOf(field: string, value: string): string | undefined;
  shown: readonly { id: string; message: string }[];
};

type Found = { key: number | string; problems: ReadonlyMap<string, string> | undefined; isTried: boolean };

/** `values` are what the fields hold now: a field that nobody has filled in yet is not called wrong. */
export function problemsOf({ key, problems, isTried }: Found, values: Readonly<Record<string, string>>): Problems {
  const isShown = (field: string) => isTried || (values[field] ?? '').trim() !== '';
  const shown = [...(problems ?? [])].filter(([field]) => isShown(field));
  return {
    idOf: (field) => (shown.some(([each]) => each === field) ? idFor(key, field) : undefined),
    shown: shown.map(([field, message]) => ({ id: idFor(key, field), message })),
  };
}

function idFor(key: number | string, field: string): string {
  return `problem-${key}-${field.replaceAll('/', '-')}`;
}

export function ProblemLines({ problems }: { problems: Problems }) {
  return problems.shown.map(({ id, message }) => (
    <p key={id} id={id} className={css.problem}>
      {message}
    </p>
  ));
}
