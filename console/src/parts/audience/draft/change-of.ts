/** The change that an edit makes, as the API takes it, and its effects in words. */
import type { DefinitionChange } from '@millrace/contract/control';
import type { Definition } from '@millrace/contract/audiences';

/** A change of these is a new version; a change of the others takes effect at once. */
const AT_ONCE = ['name', 'destinations'];

/** Only what differs; null takes a field away. Empty when nothing does. */
export function changeOf(before: Definition, after: Definition): DefinitionChange {
  const [was, is]: Fields[] = [{ ...before }, { ...after }];
  const change: Fields = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (name !== 'kind' && !isSame(was?.[name], is?.[name])) change[name] = is?.[name] ?? null;
  }
  return change;
}

type Fields = Record<string, unknown>;

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}

/** Whether a change is computed anew, beside the live version. */
export function isRecomputed(change: DefinitionChange): boolean {
  return Object.keys(change).some((name) => !AT_ONCE.includes(name));
}

type Effects = { change: DefinitionChange; before: Definition; version: number; key: string; size: string };

/** One sentence for each thing that happens when it is saved. */
export function effectsOf({ change, before, version, key, size }: Effects, nameOf: (id: string) => string): string[] {
  const told: string[] = [];
  if (change.name !== undefined) told.push(`The name changes. The key stays ${key}.`);
  const was = before.destinations ?? [];
  const is = change.destinations ?? was;
  const added = is.filter((id) => !was.includes(id)).map(nameOf);
  const removed = was.filter((id) => !is.includes(id)).map(nameOf);
  if (added.length > 0) told.push(`First sync of ${listed(added)}: one identify call for each member, ${size} now.`);
  if (removed.length > 0) told.push(`${listed(removed)} is told nothing more, and keeps what it knows.`);
  if (isRecomputed(change)) {
    told.push(
      before.kind === 'audience'
        ? `Version ${version} stays live until version ${version + 1} is computed. Then only users whose membership changes are told.`
        : `Version ${version} stays live until version ${version + 1} is computed. Then only users whose value changes are told.`,
    );
  }
  return told;
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
}
