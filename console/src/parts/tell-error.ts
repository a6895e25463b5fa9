import { ApiError } from '../api/ask-control.ts';
import { localSentence } from '../format/sentences.ts';
import { toast } from './toasts.tsx';

/** Says in a toast why a button had no effect. */
export function tellError(error: Error): void {
  const reasons = error instanceof ApiError ? (error.problem.errors ?? []).map(({ message }) => ` ${message}`) : [];
  toast({ text: localSentence(`${error.message}${reasons.join('')}`) });
}
