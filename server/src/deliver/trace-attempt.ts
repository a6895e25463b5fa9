import { NO_TRACING, type Tracing } from '../tracing/open-tracing.ts';
import type { Attempt } from './attempt.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Webhook } from './webhook.ts';

type Make = (delivery: Delivery, webhook: Webhook) => Promise<Attempt>;

/** Attempts as part of the trace that began with their call. */
export function traceAttempts(make: Make, tracing: Tracing): Make {
  if (tracing === NO_TRACING) return make;
  return async (delivery, webhook) => {
    const traced = tracing.start('millrace.attempt', delivery.trace);
    if (traced === undefined) return make(delivery, webhook);
    const attempt = await make(delivery, webhook);
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
