/** The state of a destination and the changes of a draft, in words. */
import type { Destination } from '@millrace/contract/control';
import type { DestinationChange } from '../../parts/destination/draft.ts';
import type { SettingField } from '../../parts/destination/setting-fields.ts';
import type { StateName } from '../../parts/state-mark.tsx';

type State = { name: StateName; words: string; meaning: string };

export function stateOf({ enabled, paused }: Pick<Destination, 'enabled' | 'paused'>): State {
  if (!enabled) return { name: 'skipped', words: 'Disabled', meaning: 'New events skip it and are not kept for it.' };
  if (paused) {
    return {
      name: 'paused',
      words: 'Paused',
      meaning: 'Millrace sends nothing, and events wait. Resume within a week.',
    };
  }
  return { name: 'delivered', words: 'Enabled', meaning: 'It gets each event that passes its filters.' };
}

/** "name, targets and filters". */
export function changedWords(change: DestinationChange, fields: readonly SettingField[]): string {
  const settings = Object.keys(change.settings ?? {});
  const names = [
    ...(change.name === undefined ? [] : ['name']),
    ...settings.map((setting) =>
      setting === 'targets' ? 'targets' : (fields.find(({ name }) => name === setting)?.short ?? setting),
    ),
    ...(change.filters === undefined ? [] : ['filters']),
  ];
  const last = names.pop() ?? '';
  return names.length === 0 ? last : `${names.join(', ')} and ${last}`;
}
