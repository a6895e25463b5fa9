import type { DeliveryAttempt, DeliveryDetails } from '@millrace/contract/control';
import { useSearch } from '@tanstack/react-router';
import type { Answer } from '../../parts/delivery/attempt-phases.ts';

/** The attempt and the target that the URL names; the latest attempt and its first answer otherwise. */
export type Chosen = { attempt: DeliveryAttempt; place: number; answer: Answer | undefined };

export function useChosen({ history }: DeliveryDetails): Chosen | undefined {
  const { attempt, target } = useSearch({ from: '/shell/deliveries/$id' });
  return chooseAttempt(history, attempt, target);
}

/** `attempt` counts from 1, in the order in which attempts were made: after a replay their own numbers may begin anew. */
function chooseAttempt(history: readonly DeliveryAttempt[], attempt?: string, target?: string): Chosen | undefined {
  const wanted = Number(attempt) - 1;
  const place = history[wanted] === undefined ? history.length - 1 : wanted;
  const found = history[place];
  if (found === undefined) return undefined;
  return { attempt: found, place, answer: found.answers[Number(target ?? 0)] ?? found.answers[0] };
}
