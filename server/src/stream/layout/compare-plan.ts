import { type ConsumerConfig, PersistMode, type StreamConfig } from '@nats-io/jetstream';
import type { ConsumerPlan, StreamPlan } from './layout.ts';

/**
 * The plan for a stream that exists. Its size is changed on its own (resize-stream.ts), and replicas are added only while all servers
 * answer.
 */
export function planFor(found: StreamConfig, plan: StreamPlan, mayResize: boolean): StreamPlan {
  const { max_bytes, num_replicas } = found;
  return { ...plan, max_bytes, ...(mayResize ? {} : { num_replicas }) };
}

/** Whether the stream differs from the plan in anything that the plan names. */
export function differs(found: object, plan: object): boolean {
  const is = new Map<string, unknown>(Object.entries(found));
  return Object.entries(plan).some(([key, value]) => JSON.stringify(value) !== JSON.stringify(is.get(key)));
}

const FOR_GOOD = 'that cannot be changed later: back it up, delete it and start again';

/** Our guarantees depend on these. A process that was started without a setting must not weaken them for all. */
export function brokenPromise(found: StreamConfig, plan: StreamPlan): string | undefined {
  if (found.storage !== plan.storage) return `keeps its messages in ${found.storage}, not in files; ${FOR_GOOD}`;
  if (found.retention !== plan.retention) return `has retention ${found.retention}, not ${plan.retention}; ${FOR_GOOD}`;
  if (found.persist_mode === PersistMode.Async)
    return `acknowledges before it writes (persist mode async); ${FOR_GOOD}`;
  if (found.num_replicas > (plan.num_replicas ?? 1)) {
    return `has ${found.num_replicas} replicas: set MILLRACE_REPLICAS to that, or reduce them with the nats tool first`;
  }
  return undefined;
}

/** The engine changes everything else of a consumer online. */
export function consumerProblem(found: ConsumerConfig, { config }: ConsumerPlan): string | undefined {
  if (found.ack_policy === config.ack_policy) return undefined;
  return `has the ack policy ${found.ack_policy}, not ${config.ack_policy}, which the engine cannot change: stop every process, delete the consumer with the nats tool and start again`;
}
