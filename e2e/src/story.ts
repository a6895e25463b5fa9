export type Fields = Record<string, unknown>;

/** The write key of the source that a development server starts with. */
export const WRITE_KEY = 'demo-write-key';

export type CallType = 'identify' | 'track' | 'page' | 'screen' | 'group' | 'alias';

export type Story = Record<CallType, Fields>;

/** The calls that every program in clients/ sends with its own library: one of each type. */
export const story: Story = {
  identify: {
    userId: 'user-1',
    traits: { email: 'ada@example.com', plan: 'pro', logins: 3, address: { city: 'Zürich' } },
  },
  track: {
    userId: 'user-1',
    event: 'Order Completed',
    properties: { revenue: 12.5, currency: 'EUR', products: [{ sku: 'A-1', quantity: 2 }], coupon: null },
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

/** When the track call of the story says it happened: long before it was sent. */
export const ORDERED_AT = '2020-01-01T00:00:00.000Z';
