/** A definition of the API as people write it: for its sentence, and for editing. */
import type { Definition as SavedDefinition } from '@millrace/contract/control';
import {
  type AudienceDefinition,
  type Definition,
  settleSecondsOf,
  type TraitDefinition,
} from '@millrace/contract/audiences';

/** How long changes wait is left out where it is what Millrace takes by itself. */
export function writtenOf(saved: SavedDefinition): Definition {
  const written = bodyOf(saved);
  return settleSecondsOf(written) === saved.settleSeconds
    ? written
    : { ...written, settleSeconds: saved.settleSeconds };
}

function bodyOf(saved: SavedDefinition): Definition {
  const { name, sources, destinations, includeAnonymous } = saved;
  const shared = { name, ...(sources === undefined ? {} : { sources }), destinations, includeAnonymous };
  if (saved.kind === 'audience') return { kind: 'audience', ...shared, when: saved.when } as AudienceDefinition;
  const { compute, field, type, event, where, window, between } = saved;
  const selection = Object.entries({ compute, field, type, event, where, window, between });
  const given = Object.fromEntries(selection.filter(([, value]) => value !== undefined));
  return { kind: 'trait', ...shared, ...given } as unknown as TraitDefinition;
}
