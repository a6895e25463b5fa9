/** What a user writes, compiled against the packed package with the oldest and the newest TypeScript it is for. */
import {
  type CallsEvent,
  type Counts,
  InvalidCallError,
  Millrace,
  type Options,
  receiveWebhooks,
  verifyRequest,
  verifyWebhook,
  type WebhookEvent,
} from '@millrace/node';

interface Cart {
  total: number;
}
const cart: Cart = { total: 27.5 };
const options: Options = {
  endpoint: 'https://events.example',
  flushAt: 20,
  whenFull: 'dropOldest',
  onError: (event: CallsEvent) => event.calls.map((call) => call.messageId),
};

export async function makeCalls(): Promise<Counts> {
  await using millrace = new Millrace('write key', options);
  millrace.identify({ userId: 'u1', traits: { plan: 'pro' } });
  millrace.track({ userId: 1, event: 'Order Completed', properties: cart, timestamp: new Date() });
  millrace.page({ anonymousId: 'a1', name: 'Home', userId: undefined });
  millrace.screen({ userId: 'u1', name: null });
  millrace.group({ userId: 'u1', groupId: 'g1' });
  millrace.alias({ userId: 'u2', previousId: 'u1' });
  millrace.on('failed', ({ code }) => code.length).off('sent', () => {});
  await millrace.now.track({ anonymousId: 'a1', event: 'E', integrations: { All: false } });
  try {
    // @ts-expect-error somebody has to be named
    millrace.track({ event: 'E' });
    // @ts-expect-error a track call has an event
    millrace.track({ userId: 'u1' });
    // @ts-expect-error an alias has two ids
    millrace.alias({ userId: 'u1' });
    // @ts-expect-error a group call names a group
    millrace.group({ userId: 'u1' });
  } catch (error) {
    if (error instanceof InvalidCallError && error.code === 'id_required') return millrace.close();
  }
  return millrace.flush();
}

export function describe(event: WebhookEvent): string {
  switch (event.type) {
    case 'track':
      return event.event;
    case 'alias':
      return `${event['Previous ID']} is ${event['User ID']}`;
    case 'delete':
      return event.userId;
    case 'page':
      return event.name ?? '';
    case 'screen':
      return event.name;
    case 'group':
      return event.groupId;
    case 'identify':
      return Object.keys(event.traits).join();
  }
}

export const received: WebhookEvent = verifyWebhook('{}', { 'x-signature': '…' }, ['new', 'old'], {
  toleranceMs: 1_000,
  scheme: 'x-signature',
});
export const requested: Promise<WebhookEvent> = verifyRequest(
  { headers: new Map([['x-signature', '…']]) as never, arrayBuffer: async () => new ArrayBuffer(0) },
  'secret',
);
export const listener = receiveWebhooks({ secret: 'secret', onEvent: (event, id) => void [event.type, id] });
