/** A plan as a diff for people. */
import { counted } from '@millrace/console/format/numbers';
import { inline, print, styled } from '../output/print.ts';
import { type Change, type Plan, tellExtra } from './plan.ts';
import type { FieldChange } from './plan-settings.ts';

const MARKS = { create: ['green', '+'], update: ['yellow', '~'], delete: ['red', '-'] } as const;

export function tellPlan({ changes, leftAlone }: Plan): void {
  for (const change of changes) {
    const [style, mark] = MARKS[change.action];
    print(styled(style, `${mark} ${inline(tellExtra(change))}`));
    for (const each of change.fields) print(`    ${inline(each.field)}: ${fieldText(each)}`);
  }
  if (leftAlone.length > 0)
    print(`Not in the file, and left alone: ${inline(leftAlone.join(', '))}. --prune deletes them.`);
  print(changes.length === 0 ? 'The workspace is as the file says.' : `${counted(changes.length, 'change')}.`);
}

function fieldText({ from, to }: FieldChange): string {
  if (from === null) return styled('green', `+ ${inline(to ?? '')}`);
  if (to === null) return styled('red', `- ${inline(from)}`);
  return `${styled('red', inline(from))} → ${styled('green', inline(to))}`;
}

/** The plan as JSON: without the bodies of requests, which may hold secrets. */
export function planDocument({ changes, leftAlone }: Plan, isApplied: boolean): object {
  return { applied: isApplied, changes: changes.map(changeDocument), leftAlone };
}

function changeDocument(change: Change): object {
  const { action, kind, fields } = change;
  if (change.kind === 'definition') return { action, kind, definition: change.definition, fields };
  const { source } = change;
  return {
    action,
    kind,
    source,
    ...(change.kind === 'destination' ? { destination: change.destination } : {}),
    fields,
  };
}
