import { amount } from './condition-words.ts';
import { OuterText } from '../texts.tsx';

/** A computed value: a number as people write it, a list with commas, a text only ever as text. */
export function ValueText({ value, most = 80 }: { value: unknown; most?: number }) {
  if (value === null || value === undefined) return <span className="dim">no value</span>;
  if (typeof value === 'number') return amount(value);
  return <OuterText text={writtenValue(value)} most={most} />;
}

function writtenValue(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((each) => writtenValue(each)).join(', ');
  return JSON.stringify(value);
}
