/** A destination while it is edited, and the change that it would be. */
import type { FilterRule } from '@millrace/contract';
import type { Destination } from '@millrace/contract/control';
import { type DraftRule, draftOf, unfinished, wholeRules } from './filters/rules.ts';
import { type SettingField, settingText, settingValue } from './setting-fields.ts';
import { type DraftTarget, draftTarget, type SavedTarget, settingsOf, targetsProblem } from './targets/targets.ts';

/** `others` holds the settings beside targets and secret, as typed; an empty text is not set. */
export type DestinationDraft = {
  name: string;
  targets: DraftTarget[];
  rules: DraftRule[];
  others: Record<string, string>;
};

export function draftOfDestination({ name, filters, settings }: Destination): DestinationDraft {
  return {
    name,
    targets: savedTargets(settings).map((target) => draftTarget(target)),
    rules: filters.map((rule) => draftOf(rule)),
    others: Object.fromEntries(
      Object.entries(settings)
        .filter(([setting, value]) => setting !== 'targets' && typeof value !== 'object')
        .map(([setting, value]) => [setting, settingText(value)]),
    ),
  };
}

export function savedTargets(settings: Record<string, unknown>): SavedTarget[] {
  return Array.isArray(settings.targets) ? (settings.targets as SavedTarget[]) : [];
}

/** The first thing that stops a save. */
export function draftProblem({ targets, rules }: DestinationDraft): string | undefined {
  const targetProblem = targetsProblem(targets);
  if (targetProblem !== undefined) return targetProblem;
  return unfinished(rules) === 0 ? undefined : 'Finish or remove the rules that are not whole.';
}

export type DestinationChange = { name?: string; filters?: FilterRule[]; settings?: Record<string, unknown> };

/** Only what differs from what is saved; undefined when nothing does. */
export function changeOf(
  draft: DestinationDraft,
  saved: Destination,
  fields: readonly SettingField[],
): DestinationChange | undefined {
  const settings: Record<string, unknown> = {};
  const targets = settingsOf(draft.targets);
  if (!isSame(targets, settingsOf(savedTargets(saved.settings).map((target) => draftTarget(target))))) {
    settings.targets = targets;
  }
  for (const field of fields) {
    const text = draft.others[field.name] ?? '';
    if (text === settingText(saved.settings[field.name])) continue;
    settings[field.name] = text === '' ? null : settingValue(field, text);
  }
  const rules = wholeRules(draft.rules);
  const change: DestinationChange = {
    ...(draft.name.trim() === saved.name ? {} : { name: draft.name.trim() }),
    ...(isSame(
      rules.map(parts),
      saved.filters.map((rule) => parts(rule)),
    ) && unfinished(draft.rules) === 0
      ? {}
      : { filters: rules }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}

/** The order of keys in a stored rule is the database's. */
function parts({ field, op, value, values }: FilterRule) {
  return [field, op, value ?? null, values ?? null];
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
