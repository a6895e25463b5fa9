/** Answers of the record for readers without `payloads:read`: states, counts and reasons, without contents and without people. */
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryDetails,
  Explanation,
  NewReplay,
  Refusals,
} from '@millrace/contract/control';

export function hideInDelivery<Shown extends Delivery>(delivery: Shown): Shown {
  return { ...delivery, userId: null, anonymousId: null };
}

export function hideInDetails<Shown extends DeliveryDetails>(delivery: Shown): Shown {
  return { ...hideInDelivery(delivery), history: delivery.history.map(hideInAttempt) };
}

/** A receiver may repeat the body in its answer. */
function hideInAttempt(attempt: DeliveryAttempt): DeliveryAttempt {
  const answers = attempt.answers.map((answer) => {
    const { body: _, ...bare } = answer;
    return bare;
  });
  return { ...attempt, answers };
}

export function hideInExplanation(explanation: Explanation): Explanation {
  return {
    ...explanation,
    refusals: explanation.refusals.map((refusal) => ({ ...refusal, call: null })),
    destinations: explanation.destinations.map(hideInDetails),
  };
}

export function hideInRefusals({ items }: Refusals): Refusals {
  const bare = (samples: Refusals['items'][number]['samples']) =>
    samples.map((sample) => {
      const { call: _, ...rest } = sample;
      return rest;
    });
  return { items: items.map((item) => ({ ...item, samples: bare(item.samples) })) };
}

/** The envelope alone: which call it was, and when it came. */
export function hideInLetter<Shown extends { event: Record<string, unknown> }>(letter: Shown) {
  const { messageId, type, event, name, receivedAt } = letter.event;
  return { ...letter, event: { messageId, type, event, name, receivedAt } };
}

const HIDDEN = '(hidden)';

export function hideInReplay<Shown extends { asked: NewReplay }>(replay: Shown): Shown {
  const { filter } = replay.asked;
  if (filter?.userIds === undefined) return replay;
  const userIds = filter.userIds.map(() => HIDDEN);
  return { ...replay, asked: { ...replay.asked, filter: { ...filter, userIds } } };
}
