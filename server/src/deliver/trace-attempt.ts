import { NO_TRACING, type Tracing } from '../tracing/open-tracing.ts';
import type { DispatcherNeeds } from './dispatch/dispatcher.ts';

type Make = DispatcherNeeds['attempt'];

/** Makes a span for each delivery of an attempt, in the trace that began with its call. */
export function traceAttempts(make: Make, tracing: Tracing): Make {
  if (tracing === NO_TRACING) return make;
  return async (batch, webhook, standing) => {
    const traced = batch.map(({ delivery }) => tracing.start('millrace.attempt', delivery.trace));
    const attempt = await make(batch, webhook, standing);
    if (traced.every((span) => span === undefined)) return attempt;
    const answers = attempt.answers.map(({ answer }) =>
      answer.kind === 'status' ? String(answer.status) : answer.errorClass,
    );
    const isGood = answers.some((answer) => answer.startsWith('2'));
    for (const [place, { delivery }] of batch.entries()) {
      const attributes = {
        'millrace.destination_id': webhook.destinationId,
        'millrace.delivery_id': delivery.id,
        'millrace.attempt': delivery.attempts + 1,
        'millrace.events': batch.length,
        'millrace.answers': answers,
      };
      traced[place]?.end(attributes, isGood ? undefined : answers.join(', '));
    }
    return attempt;
  };
}
