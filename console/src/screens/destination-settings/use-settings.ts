/** The typed settings, what they would change, and the save. */
import type { Destination } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { reading, useChange } from '../../api/queries.ts';
import { changeOf, type DestinationChange, draftOfDestination, draftProblem } from '../../parts/destination/draft.ts';
import { targetsOf } from '../../parts/destination/health/destination-facts.ts';
import { settingFields } from '../../parts/destination/setting-fields.ts';
import { useUrlChecks } from '../../parts/destination/targets/use-url-checks.ts';
import { toast } from '../../parts/toasts.tsx';

type Catalog = { items: { name: string; settingsSchema: Record<string, unknown> }[] };

export function useSettings(destination: Destination) {
  /** The version that the draft began with: a change that another person saves meanwhile stays. */
  const [base, setBase] = useState(destination);
  const [draft, setDraft] = useState(() => draftOfDestination(destination));
  const catalog = useQuery(reading<Catalog>('/catalog'));
  const fields = settingFields(
    catalog.data?.items.find(({ name }) => name === destination.catalog)?.settingsSchema ?? {},
  );
  const checks = useUrlChecks(
    draft.targets.map(({ url }) => url),
    targetsOf(base).map(({ url }) => url),
  );
  const change = changeOf(draft, base, fields);
  const begin = (from: Destination) => {
    setBase(from);
    setDraft(draftOfDestination(from));
  };
  const patch = useChange<DestinationChange, Destination>({
    method: 'PATCH',
    path: `/destinations/${destination.id}`,
    body: (body) => body,
    renews: ['/destinations', '/overview'],
  });
  const save = () => {
    if (change === undefined) return;
    patch.mutate(change, {
      onSuccess: (saved) => {
        begin(saved);
        toast({ text: 'Saved. Deliver uses it within seconds.' });
      },
    });
  };
  const nameProblem = draft.name.trim() === '' ? 'Type a name.' : undefined;
  return {
    draft,
    fields,
    catalog,
    checks,
    change,
    problem: nameProblem ?? draftProblem(draft),
    patch,
    save,
    discard: () => begin(destination),
    put: (part: Partial<typeof draft>) => setDraft((before) => ({ ...before, ...part })),
  };
}
