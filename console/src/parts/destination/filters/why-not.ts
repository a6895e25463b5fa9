/** Why a rule stopped an event, with the value that the event has: "rule 2: 42 is not greater than 100". */
import type { FilterRule, FilterValue } from '@millrace/contract';
import { cutText } from '../../../format/texts.ts';

const MOST_VALUE = 40;
const MOST_GIVEN = 60;

export function whyNot({ field, op, value, values }: FilterRule, body: string): string | undefined {
  const event = parsed(body);
  if (event === undefined) return undefined;
  const found = at(event, field);
  const given = cutText((values ?? (value === undefined ? [] : [value])).map(plain).join(', '), MOST_GIVEN);
  if (op === 'not_exists') return 'the field is there';
  if (found === undefined || found === null) return 'the field is missing';
  const shown = cutText(typeof found === 'object' ? JSON.stringify(found) : plain(found as FilterValue), MOST_VALUE);
  switch (op) {
    case 'equals':
      return `${shown} is not ${given}`;
    case 'not_equals':
      return `it is ${shown}`;
    case 'one_of':
      return `${shown} is not one of ${given}`;
    case 'not_one_of':
      return `${shown} is one of ${given}`;
    case 'starts_with':
      return `${shown} does not start with ${given}`;
    case 'greater':
      return `${shown} is not greater than ${given}`;
    case 'less':
      return `${shown} is not less than ${given}`;
    case 'exists':
      return 'the field is missing';
  }
}

function parsed(body: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function at(event: Record<string, unknown>, field: string): unknown {
  let here: unknown = event;
  for (const name of field.split('.')) {
    if (typeof here !== 'object' || here === null || Array.isArray(here) || !Object.hasOwn(here, name))
      return undefined;
    here = (here as Record<string, unknown>)[name];
  }
  return here;
}

function plain(value: FilterValue): string {
  return String(value);
}
