/** One call of each type, the same for every library that follows Segment's API for Node. */
const CALLS = {
  identify: {
    userId: 'user-1',
    traits: { email: 'ada@example.com', plan: 'pro', logins: 3, address: { city: 'Zürich' } },
  },
  track: {
    userId: 'user-1',
    event: 'Order Completed',
    properties: { revenue: 12.5, currency: 'EUR', products: [{ sku: 'A-1', quantity: 2 }], coupon: null },
    timestamp: new Date('2020-01-01T00:00:00.000Z'),
    context: { ip: '203.0.113.9', userAgent: 'story/1.0' },
    integrations: { All: false, Webhooks: true },
  },
  page: {
    anonymousId: 'anon-1',
    category: 'Docs',
    name: 'Home',
    properties: { url: 'https://shop.example/', title: 'Größe ✓' },
  },
  screen: { userId: 'user-1', name: 'Main', properties: { tab: 'orders' } },
  group: { userId: 'user-1', groupId: 'group-1', traits: { name: 'Acme', employees: 42 } },
  alias: { userId: 'user-2', previousId: 'user-1' },
};

type Calls = typeof CALLS;
export type NodeClient = {
  identify(call: Calls['identify']): unknown;
  track(call: Calls['track']): unknown;
  page(call: Calls['page']): unknown;
  screen(call: Calls['screen']): unknown;
  group(call: Calls['group']): unknown;
  alias(call: Calls['alias']): unknown;
};

export function tellNodeStory(client: NodeClient): void {
  client.identify(CALLS.identify);
  client.track(CALLS.track);
  client.page(CALLS.page);
  client.screen(CALLS.screen);
  client.group(CALLS.group);
  client.alias(CALLS.alias);
}
