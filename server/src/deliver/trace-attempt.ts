import { NO_TRACING, type Tracing } from '../tracing/open-tracing.ts';
import type { DispatcherNeeds } from './dispatch/dispatcher.ts';

type Make = DispatcherNeeds['attempt'];

/** Makes a span for each attempt, in the trace that began with its call. */
export function traceAttempts(make: Make, tracing: Tracing): Make {
  if (tracing === NO_TRACING) return make;
  return async (delivery, webhook, standing) => {
    const traced = tracing.start('millrace.attempt', delivery.trace);
    if (traced === undefined) return make(delivery, webhook, standing);
    const attempt = await make(delivery, webhook, standing);
    const answers = attempt.answers.map(({ answer }) =>
      answer.kind === 'status' ? String(answer.status) : answer.errorClass,
    );
    const isGood = answers.some((answer) => answer.startsWith('2'));
    const attributes = {
      'millrace.destination_id': webhook.destinationId,
      'millrace.delivery_id': delivery.id,
      'millrace.attempt': delivery.attempts + 1,
      'millrace.answers': answers,
    };
    traced.end(attributes, isGood ? undefined : answers.join(', '));
    return attempt;
  };
}
