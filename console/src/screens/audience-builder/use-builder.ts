/** The state of the builder: the draft, its problems, and saving it. */
import type { Definition as SavedDefinition } from '@millrace/contract/control';
import type { Definition } from '@millrace/contract/audiences';
import { useNavigate } from '@tanstack/react-router';
import { type RefObject, useState } from 'react';
import { ApiError } from '../../api/ask-control.ts';
import { DEFINITIONS } from '../../api/definitions.ts';
import { useChange } from '../../api/queries.ts';
import { changeOf } from '../../parts/audience/draft/change-of.ts';
import { draftOf } from '../../parts/audience/draft/draft-of.ts';
import { type Draft, emptyDraft } from '../../parts/audience/draft/draft.ts';
import { type Places, problemsByKey, problemsOfFields, readDraft } from '../../parts/audience/draft/read-draft.ts';
import { writtenOf } from '../../parts/audience/saved-definition.ts';
import { toast } from '../../parts/toasts.tsx';
import type { BuilderInput } from './builder.tsx';

export function useBuilder({ saved }: BuilderInput, isLeaving: RefObject<boolean>) {
  const navigate = useNavigate();
  const [first] = useState<Draft>(() => (saved === undefined ? emptyDraft('audience') : draftOf(writtenOf(saved))));
  const [draft, setDraft] = useState(first);
  const [isTried, setIsTried] = useState(false);
  const read = readDraft(draft);
  const before: Definition = readDraft(first).definition;
  const change = changeOf(before, read.definition);
  const write = useChange<object, SavedDefinition>({
    method: saved === undefined ? 'POST' : 'PATCH',
    path: saved === undefined ? DEFINITIONS : `${DEFINITIONS}/${saved.id}`,
    body: (body) => body,
    renews: [DEFINITIONS],
  });
  const refused = write.error instanceof ApiError ? (write.error.problem.errors ?? []) : [];
  const problems = [...read.problems, ...refused];
  const save = () => {
    setIsTried(true);
    if (read.problems.length > 0) return focusFirst();
    write.mutate(saved === undefined ? read.definition : change, {
      onSuccess: ({ id }) => {
        isLeaving.current = true;
        toast({ text: saved === undefined ? 'It is created.' : 'It is saved.' });
        void navigate({ to: '/audiences/$id', params: { id } });
      },
      onError: focusFirst,
    });
  };
  return {
    draft,
    put: (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part })),
    read,
    before,
    change,
    isChanged: JSON.stringify(before) !== JSON.stringify(read.definition),
    isTried,
    problems: problemsByKey(problems, read.places),
    fieldProblems: problemsOfFields(problems, read.places),
    error: isBesideFields(refused, read.places) ? null : write.error,
    isBusy: write.isPending,
    save,
  };
}

/** Whether each refusal stands beside the field that it is about: a note would only repeat it. */
function isBesideFields(refused: readonly { path: string }[], places: Places): boolean {
  const isShown = ({ path }: { path: string }) =>
    path === '/name' || path === '/settleSeconds' || [...places.keys()].some((place) => path.startsWith(place));
  return refused.length > 0 && refused.every(isShown);
}

/** The first field that is wrong, as soon as it is marked. */
function focusFirst(): void {
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>('main :is(input, select)[aria-invalid="true"]')?.focus(),
  );
}
