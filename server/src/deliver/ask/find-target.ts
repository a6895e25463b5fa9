/** Shared by tests and check-ups: their mark, the target that they go to, and the headers that hold secrets. */
import type { TestQuestion } from '../../domain/ask.ts';
import type { DestinationConfig } from '../../domain/configuration.ts';
import type { DeliverConfig } from '../../stream/config/config-bucket.ts';
import { fixedHeaders, type Webhook, type WebhookOf } from '../attempt/webhook.ts';

/** Both are the mark of a test; the id is part of what `webhook-signature` signs. */
export const TEST_ID = 'test_';
export const TEST_HEADER: readonly string[] = ['X-Millrace-Test', 'true'];
/** A change made a moment before the test is on its way to this process. */
const NEWEST_WITHIN_MS = 2_000;

const NOT_THERE =
  'deliver has not heard of this version of the destination: see its projection, or try again in a few seconds';
const NOT_READABLE =
  'deliver cannot read the settings of the destination: give every process the same MILLRACE_KEYS and version';

export type FindNeeds = { config: DeliverConfig; webhookOf: WebhookOf };
type Named = Omit<TestQuestion, 'kind' | 'event'>;
type Target = { ok: true; webhook: Webhook; isNewer: boolean } | { ok: false; why: string };

/** The webhook with the target that the question names, and no other. */
export async function findTarget(asked: Named, { config, webhookOf }: FindNeeds): Promise<Target> {
  const destination = await newest(asked, config);
  if (destination === undefined) return { ok: false, why: NOT_THERE };
  const webhook = webhookOf(destination);
  if (webhook.targets.length === 0) return { ok: false, why: NOT_READABLE };
  const target = webhook.targets[asked.targetIndex];
  if (target === undefined) return { ok: false, why: `the destination has no target ${asked.targetIndex}` };
  const isNewer = Date.parse(destination.updatedAt) > Date.parse(asked.updatedAt);
  return { ok: true, webhook: { ...webhook, targets: [target] }, isNewer };
}

/** This version of the destination or a newer one; undefined when it does not come in time, or belongs to another workspace. */
async function newest(asked: Named, config: DeliverConfig): Promise<DestinationConfig | undefined> {
  const find = () => {
    const found = config.destination(asked.destinationId);
    const isNewEnough = found !== undefined && Date.parse(found.updatedAt) >= Date.parse(asked.updatedAt);
    return isNewEnough && found.workspaceId === asked.workspaceId ? found : undefined;
  };
  const known = find();
  if (known !== undefined) return known;
  const changed = Promise.withResolvers<void>();
  const timer = setTimeout(changed.resolve, NEWEST_WITHIN_MS);
  using _ = config.onDestination((id) => {
    if (id === asked.destinationId && find() !== undefined) changed.resolve();
  });
  await changed.promise;
  clearTimeout(timer);
  return find();
}

const OURS = fixedHeaders().length;

/** The headers that the owner set: their values are secrets. */
export function ownHeaders({ targets: [target] }: Webhook): [name: string, value: string][] {
  return headerPairs(target?.headers.slice(OURS) ?? []);
}

export function headerPairs(headers: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: headers.length / 2 }, (_, at) => [headers[at * 2] ?? '', headers[at * 2 + 1] ?? '']);
}
