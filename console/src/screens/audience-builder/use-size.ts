/** The size that a draft would have, asked again when the typing stops. Nothing is saved or sent. */
import { useDebouncedValue } from '@mantine/hooks';
import type { DefinitionPreview } from '@millrace/contract/control';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMay } from '../../api/session.tsx';
import { readDraft } from '../../parts/audience/draft/read-draft.ts';
import type { Draft } from '../../parts/audience/draft/draft.ts';
import { asking } from '../../parts/destination/asking.ts';

const QUIET_MS = 400;

export type LiveSize = {
  preview: DefinitionPreview | undefined;
  error: unknown;
  /** The figures are of an earlier draft: the new ones are on their way, or the draft is not whole. */
  isOld: boolean;
  isWhole: boolean;
  countExactly(): void;
  isCounting: boolean;
};

/** Names and destinations make no difference to the size: a change of them asks nothing. */
export function useSize(draft: Draft): LiveSize {
  const mayRead = useMay('payloads:read');
  const { definition, problems } = readDraft({ ...draft, name: 'Preview', destinations: [], settleSeconds: '' });
  const isWhole = problems.length === 0;
  const text = JSON.stringify(definition);
  const [settled] = useDebouncedValue(isWhole ? text : '', QUIET_MS);
  const [exact, setExact] = useState('');
  const isExact = exact !== '' && exact === settled;
  const body = settled === '' ? {} : { definition: JSON.parse(settled) as object, ...(isExact ? { exact: true } : {}) };
  const read = useQuery({
    ...asking<DefinitionPreview>('/definitions/preview', body, mayRead && settled !== ''),
    placeholderData: keepPreviousData,
  });
  return {
    preview: read.data,
    error: read.error,
    isOld: read.isPlaceholderData || !isWhole || text !== settled,
    isWhole,
    countExactly: () => setExact(settled),
    isCounting: isExact && read.isFetching,
  };
}
