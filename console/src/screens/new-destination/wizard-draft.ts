/** The typed text of a new destination. This tab keeps it until the destination is created, without secrets and header values. */
import { type DestinationDraft, draftOfDestination } from '../../parts/destination/draft.ts';
import { type DraftRule, emptyRule, nextKey, OP_WORDS } from '../../parts/destination/filters/rules.ts';
import type { SecretMode } from '../../parts/destination/secret/secret-chooser.tsx';
import { emptyTarget } from '../../parts/destination/targets/targets.ts';
import type { Destination } from '@millrace/contract/control';

export type WizardDraft = DestinationDraft & { sourceId: string; secretMode: SecretMode };

export function freshDraft(sourceId: string): WizardDraft {
  return {
    name: '',
    sourceId,
    targets: [emptyTarget()],
    rules: [],
    others: { successPolicy: 'any' },
    secretMode: 'made',
  };
}

/** The draft that the tab kept. A source that the link names wins over the one that was chosen before. */
export function keptDraft(kept: WizardDraft, sourceId: string | undefined): WizardDraft {
  return { ...kept, sourceId: sourceId ?? kept.sourceId };
}

/** Of a destination that was created before the page was loaded again. */
export function createdDraft(saved: Destination): WizardDraft {
  return { ...draftOfDestination(saved), sourceId: saved.sourceId, secretMode: 'made' };
}

type Kept = {
  name: string;
  sourceId: string;
  secretMode: string;
  successPolicy: string;
  targets: { url: string; headers: string[] }[];
  rules: { field: string; op: string; text: string }[];
};

export function keptText(draft: WizardDraft): string {
  const kept: Kept = {
    name: draft.name,
    sourceId: draft.sourceId,
    secretMode: draft.secretMode,
    successPolicy: draft.others.successPolicy ?? 'any',
    targets: draft.targets.map(({ url, headers }) => ({ url, headers: headers.map(({ name }) => name) })),
    rules: draft.rules.map(({ field, op, text }) => ({ field, op, text })),
  };
  return JSON.stringify(kept);
}

/** Undefined for a text that another version of the console kept. */
export function readKept(text: string | null): WizardDraft | undefined {
  if (text === null) return undefined;
  try {
    const kept = JSON.parse(text) as Kept;
    if (typeof kept.name !== 'string' || typeof kept.sourceId !== 'string') return undefined;
    return {
      name: kept.name,
      sourceId: kept.sourceId,
      secretMode: kept.secretMode === 'pasted' || kept.secretMode === 'none' ? kept.secretMode : 'made',
      others: { successPolicy: kept.successPolicy === 'all' ? 'all' : 'any' },
      targets: kept.targets.slice(0, 5).map(({ url, headers }) => ({
        ...emptyTarget(),
        url,
        headers: headers.map((name) => ({ key: nextKey(), name, value: '', isStored: false })),
      })),
      rules: kept.rules.map(
        ({ field, op, text }): DraftRule => ({
          ...emptyRule(),
          field,
          op: op in OP_WORDS ? (op as DraftRule['op']) : 'equals',
          text,
        }),
      ),
    };
  } catch {
    return undefined;
  }
}

export function hasText({ name, targets, rules }: WizardDraft): boolean {
  return name !== '' || rules.length > 0 || targets.some(({ url, headers }) => url !== '' || headers.length > 0);
}
