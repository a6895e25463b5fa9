/** A server with the sources, destinations and deliveries that the examples of the help name. */
import { setInterval } from 'node:timers';
import { answer, openReceiver } from '../../server/testing/receiver.ts';
import { openStack, type Stack } from '../../server/testing/stack.ts';
import { until } from '../../server/testing/until.ts';

export const TOKEN = 'a-bootstrap-token-of-more-than-32-characters';
const SECRET = 'a secret of the shop';
const PATIENCE_MS = 60_000;

type Source = { id: string; writeKeys: { key: string }[] };

// oxlint-disable-next-line max-lines-per-function -- a factory: the parts of the scene share the stack
export async function openScene(settings: Record<string, string> = {}) {
  await using opening = new AsyncDisposableStack();
  const stack = opening.use(await openStack(settings));
  const good = opening.use(await openReceiver(answer(200)));
  const failing = opening.use(await openReceiver(answer(503)));
  const refusing = opening.use(await openReceiver(answer(410)));
  const [web, mobile] = [await addSource(stack, 'web'), await addSource(stack, 'mobile')];
  await addSource(stack, 'staging');
  const key = web.writeKeys[0]?.key ?? '';
  await stack.get('POST', `/sources/${web.id}/write-keys`, { label: 'Old site' });
  const destinations = {
    orders: await addDestination(stack, web.id, 'orders', good.url),
    failing: await addDestination(stack, web.id, 'failing', failing.url),
    refusing: await addDestination(stack, web.id, 'refusing', refusing.url),
    late: await addDestination(stack, web.id, 'late', failing.url),
    oldCrm: await addDestination(stack, mobile.id, 'old-crm', good.url),
  };
  await until(async () => (await stack.send(key, [])) === 400, PATIENCE_MS);
  await until(() => stack.view().destination(destinations.oldCrm) !== undefined, PATIENCE_MS);
  await stack.send(key, [
    { type: 'track', userId: 'u1', event: 'Order Completed', messageId: 'order-1001', properties: { revenue: 12.5 } },
    { type: 'identify', userId: 'u-123', traits: { plan: 'pro' } },
  ]);
  const open = opening.move();
  return {
    stack,
    web: { id: web.id, key },
    mobile: { id: mobile.id },
    /** The secret of every destination. */
    secret: SECRET,
    destinations,
    receivers: { good, failing, refusing },
    /** A call a moment, for commands that wait for one. Returns the function that ends it. */
    keepSending(): () => void {
      const sending = setInterval(() => {
        void stack.send(key, [{ type: 'track', userId: 'u2', event: 'Heartbeat' }]).catch(() => undefined);
      }, 100);
      return () => clearInterval(sending);
    },
    server: () => stack.controlUrl().replace('/api/v1', ''),
    environment: () => ({
      MILLRACE_URL: stack.controlUrl().replace('/api/v1', ''),
      MILLRACE_TOKEN: TOKEN,
      MILLRACE_COLLECT_URL: stack.collectUrl(),
    }),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

export type CliScene = Awaited<ReturnType<typeof openScene>>;

function addSource(stack: Stack, name: string): Promise<Source> {
  return stack.get<Source>('POST', '/sources', { name });
}

async function addDestination(stack: Stack, sourceId: string, name: string, url: string): Promise<string> {
  const settings = { targets: [{ url }], sharedSecret: SECRET };
  const body = { sourceId, catalog: 'Webhooks', name, enabled: true, settings };
  return String((await stack.get('POST', '/destinations', body))['id']);
}

/** The first delivery in a state, as soon as the record has one. */
export async function deliveryIn({ stack }: CliScene, destinationId: string, state: string): Promise<string> {
  let found: string | undefined;
  await until(async () => {
    const path = `/deliveries?destinationId=${destinationId}&state=${state}&limit=1`;
    found = (await stack.get<{ items: { id: string }[] }>('GET', path)).items[0]?.id;
    return found !== undefined;
  }, PATIENCE_MS);
  return found ?? '';
}
