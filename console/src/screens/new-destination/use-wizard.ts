/** The state of the wizard: the draft, the secret, what is saved, and what can be done next. */
import type { Destination, Source } from '@millrace/contract/control';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { askControl } from '../../api/ask-control.ts';
import { renew } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { changeOf } from '../../parts/destination/draft.ts';
import { wholeRules } from '../../parts/destination/filters/rules.ts';
import { makeSecret } from '../../parts/destination/secret/secret.ts';
import { settingFields } from '../../parts/destination/setting-fields.ts';
import { settingsOf } from '../../parts/destination/targets/targets.ts';
import { useCheckUp } from '../../parts/destination/trial/use-check-up.ts';
import { useUrlChecks } from '../../parts/destination/targets/use-url-checks.ts';
import { hostOf } from '../../format/texts.ts';
import type { Progress } from './steps.ts';
import { hasText, keptText, type WizardDraft } from './wizard-draft.ts';

export function draftKey(workspaceId: string): string {
  return `millrace-new-destination ${workspaceId}`;
}

export type WizardInput = {
  initial: WizardDraft;
  /** The draft was there before the page was loaded: a secret that belonged to it is gone. */
  isKept: boolean;
  sources: readonly Source[];
  saved: Destination | undefined;
};

const FIELDS = settingFields({ properties: { successPolicy: { enum: ['any', 'all'] } } });

export function useWizard({ initial, isKept, sources, saved }: WizardInput) {
  const [draft, setDraft] = useState(initial);
  const [secret, setSecret] = useState(() => (isKept ? '' : makeSecret()));
  const checks = useUrlChecks(draft.targets.map(({ url }) => url));
  const checkUp = useCheckUp(saved?.id ?? '');
  useKept(draft, saved === undefined);
  const sourceName = sources.find(({ id }) => id === draft.sourceId)?.name;
  const progress: Progress = {
    draft,
    secret,
    sourceName,
    checks,
    isCreated: saved !== undefined,
    isEnabled: saved?.enabled === true,
    report: checkUp.report,
  };
  const name = draft.name.trim() === '' ? hostOf(draft.targets[0]?.url.trim() ?? '').slice(0, 100) : draft.name.trim();
  const change =
    saved === undefined
      ? undefined
      : changeOf({ ...draft, name: draft.name.trim() === '' ? saved.name : draft.name }, saved, FIELDS);
  return {
    draft,
    secret,
    checks,
    progress,
    name,
    change,
    put: (part: Partial<WizardDraft>) => setDraft((before) => ({ ...before, ...part })),
    putSecret: setSecret,
    ...useSaving({ draft, secret, name, saved, change, setDraft }),
  };
}

/** Keeps the draft in this tab until the destination is created. */
function useKept(draft: WizardDraft, isOpen: boolean): void {
  const { workspace } = useSession();
  useEffect(() => {
    const key = draftKey(workspace.id);
    if (isOpen && hasText(draft)) sessionStorage.setItem(key, keptText(draft));
    else sessionStorage.removeItem(key);
  }, [draft, isOpen, workspace.id]);
}

type Saving = {
  draft: WizardDraft;
  secret: string;
  name: string;
  saved: Destination | undefined;
  change: object | undefined;
  setDraft(put: (before: WizardDraft) => WizardDraft): void;
};

function useSaving({ draft, secret, name, saved, change, setDraft }: Saving) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const keyOf = useSameKey();
  const create = useMutation({
    mutationFn: () => {
      const body = {
        sourceId: draft.sourceId,
        catalog: 'Webhooks',
        name,
        enabled: false,
        filters: wholeRules(draft.rules),
        settings: {
          targets: settingsOf(draft.targets),
          successPolicy: draft.others.successPolicy ?? 'any',
          ...(draft.secretMode === 'none' ? {} : { sharedSecret: secret }),
        },
      };
      return askControl<Destination>('/destinations', { method: 'POST', body, idempotencyKey: keyOf(body) });
    },
    onSuccess: async ({ id, name }) => {
      setDraft((before) => ({ ...before, name, targets: before.targets.map(asSaved) }));
      await renew(client, ['/destinations']);
      await navigate({ to: '/destinations/new', search: { id }, replace: true });
    },
  });
  const patch = useMutation({
    mutationFn: (body: object) =>
      askControl<Destination>(`/destinations/${saved?.id ?? ''}`, { method: 'PATCH', body }),
    onSuccess: async (_answer, body) => {
      if ('settings' in body) setDraft((before) => ({ ...before, targets: before.targets.map(asSaved) }));
      await renew(client, ['/destinations', '/overview']);
    },
  });
  return { create, patch, save: () => change !== undefined && patch.mutate(change) };
}

/** The server has the values of headers now, so the page need not keep them. */
function asSaved(target: WizardDraft['targets'][number]): WizardDraft['targets'][number] {
  const headers = target.headers.filter(({ name }) => name.trim() !== '');
  return {
    ...target,
    url: target.url.trim(),
    savedUrl: target.url.trim(),
    headers: headers.map((header) => ({ ...header, name: header.name.trim(), value: '', isStored: true })),
  };
}

/** The same request has the same key: one whose answer got lost makes no second destination. */
function useSameKey() {
  const last = useRef({ text: '', key: '' });
  return (body: object): string => {
    const text = JSON.stringify(body);
    if (last.current.text !== text) {
      const bytes = crypto.getRandomValues(new Uint8Array(16));
      last.current = { text, key: Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('') };
    }
    return last.current.key;
  };
}
