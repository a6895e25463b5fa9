import type { AskAnswer, Question } from '../../../domain/ask.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { ApiProblem } from '../../problems/problems.ts';

/** The answer of a deliver process, or a problem that says why there is none. */
export async function askDeliver(question: Question, { asks }: Pick<ControlNeeds, 'asks'>): Promise<AskAnswer> {
  const asked = asks === undefined ? ({ kind: 'nobody' } as const) : await asks.ask(question);
  switch (asked.kind) {
    case 'answered':
      return asked.answer;
    case 'busy':
      throw new ApiProblem('deliver_busy');
    case 'away':
      throw new ApiProblem('engine_unavailable');
    case 'nobody':
    case 'late':
      throw new ApiProblem('no_deliver');
  }
}

/** Deliver answered, and did not do it. */
export function notDone(answer: AskAnswer): ApiProblem {
  const message = answer.kind === 'not_applied' ? answer.why : 'deliver is of another version than control';
  return new ApiProblem('not_applied', [{ path: '/', message }]);
}
