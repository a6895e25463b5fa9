/** The grades of a check-up in states and words. */
import type { CheckUp, CheckUpStep, Grade } from '@millrace/contract/control';
import type { StateName } from '../../state-mark.tsx';
import { milliseconds } from '../../../format/numbers.ts';

export const GRADE_STATES: Readonly<Record<Grade, StateName>> = {
  good: 'delivered',
  unknown: 'skipped',
  warning: 'retrying',
  danger: 'givenup',
};

const GRADE_WORDS: Readonly<Record<Grade, string>> = {
  good: 'good',
  unknown: 'not known',
  warning: 'to improve',
  danger: 'at fault',
};

/** "2 faults", "1 fault, 1 to improve", "all good". */
export function gradeWords({ steps }: Pick<CheckUp, 'steps'>): string {
  const faults = steps.filter(({ grade }) => grade === 'danger').length;
  const warnings = steps.filter(({ grade }) => grade === 'warning').length;
  const parts = [
    ...(faults > 0 ? [`${faults} ${faults === 1 ? 'fault' : 'faults'}`] : []),
    ...(warnings > 0 ? [`${warnings} to improve`] : []),
  ];
  if (parts.length > 0) return parts.join(', ');
  return steps.every(({ grade }) => grade === 'good') ? 'all good' : 'nothing to conclude';
}

/** A step that sends nothing, or could not send, has only its grade. */
export function answerWords({ answer, grade }: Pick<CheckUpStep, 'answer' | 'grade'>): { text: string; ms: string } {
  if (answer === null) return { text: grade === null ? 'waits' : GRADE_WORDS[grade], ms: '' };
  const text = answer.status === null ? (answer.errorClass ?? 'nothing') : String(answer.status);
  return { text, ms: milliseconds(answer.ms) };
}

/** "A call of 32 KiB; expects 2xx." in its two parts. */
export function sentParts(sent: string): { what: string; expects: string } {
  const [what = '', expects = ''] = sent.split('; expects ');
  return { what: what.replace(/\.$/, ''), expects: expects.replace(/\.$/, '') };
}
