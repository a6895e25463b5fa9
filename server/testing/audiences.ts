/** An audience of the demo kind over a whole stack: users whose orders of 30 days reach 500. */
import type { Definition } from '@millrace/contract/audiences';
import { addDefinition } from './definitions.ts';
import { openReceiver } from './receiver.ts';
import { addDestination, addScene, openStack, type Stack } from './stack.ts';
import { until } from './until.ts';

const BIG_SPENDERS: Definition = {
  name: 'Big spenders',
  kind: 'audience',
  when: { event: 'Order Completed', sum: 'properties.revenue', window: '30d', atLeast: 500 },
};

export type Identify = {
  type: string;
  userId: string;
  messageId?: string;
  traits: Record<string, unknown>;
  context: { personas: Record<string, unknown> };
};

export const order = (userId: string, revenue: number, messageId: string) => ({
  type: 'track',
  event: 'Order Completed',
  userId,
  messageId,
  properties: { revenue },
});

/** `settings` of the stack. With a compute process in it, resolves when that reads the streams. */
export async function openAudience(settings: Record<string, string> = {}) {
  await using opening = new AsyncDisposableStack();
  const stack = opening.use(await openStack(settings));
  const shop = opening.use(await openReceiver());
  const audience = opening.use(await openReceiver());
  const scene = await addScene(stack, shop.url);
  const destinationId = await addDestination(stack, scene.sourceId, { targets: [{ url: audience.url }] });
  const [row] = await stack.sql<{ workspace_id: string }>('SELECT workspace_id FROM sources');
  const workspaceId = row?.workspace_id ?? '';
  const wanted = { workspaceId, key: 'big_spenders', destinations: [destinationId], definition: BIG_SPENDERS };
  const id = await addDefinition(stack.store(), wanted);
  if (settings['MILLRACE_ROLES'] === undefined) await streamsRead(stack);
  const open = opening.move();
  return {
    stack,
    scene,
    shop,
    audience,
    workspaceId,
    destinationId,
    id,
    /** The calls of the audience: it is attached to the shop's source, whose calls come as well. */
    identifies: () =>
      audience.received
        .map(({ body, headers }) => ({ ...(JSON.parse(body) as Identify), webhookId: headers['webhook-id'] }))
        .filter(({ type }) => type === 'identify'),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Resolves when every event stream has a position. */
export async function streamsRead(stack: Stack): Promise<void> {
  const read = `SELECT stream FROM compute_positions WHERE stream NOT IN ('relay', 'lifecycle') AND sequence IS NOT NULL`;
  await until(async () => (await stack.sql(read)).length === 2);
}

/** Resolves when compute has read everything that is stored now. */
export async function allFolded(stack: Stack): Promise<void> {
  for (const stream of ['EVENTS-0', 'EVENTS-1']) {
    const { state } = await stack.manager.streams.info(stream);
    type Row = { sequence: string | null };
    const at = () => stack.sql<Row>('SELECT sequence FROM compute_positions WHERE stream = $1', [stream]);
    await until(async () => Number((await at())[0]?.sequence ?? 0) >= state.last_seq);
  }
}
