/** Tells the story with analytics-node, which has no types of its own: `send-calls.ts <endpoint> <write key>`. */
import { createRequire } from 'node:module';

type LegacyCall = (message: object) => void;
type LegacyAnalytics = Record<'identify' | 'track' | 'page' | 'screen' | 'group' | 'alias', LegacyCall> & {
  flush(): Promise<unknown>;
};
type LegacyConstructor = new (writeKey: string, options: { host: string }) => LegacyAnalytics;

const Analytics: LegacyConstructor = createRequire(import.meta.url)('analytics-node');
const [host = '', writeKey = ''] = process.argv.slice(2);
const analytics = new Analytics(writeKey, { host });

// The library sends the first call at once and by itself; a failure there ends the process as an unhandled rejection.
analytics.identify({
  userId: 'user-1',
  traits: { email: 'ada@example.com', plan: 'pro', logins: 3, address: { city: 'Zürich' } },
});
analytics.track({
  userId: 'user-1',
  event: 'Order Completed',
  properties: { revenue: 12.5, currency: 'EUR', products: [{ sku: 'A-1', quantity: 2 }], coupon: null },
  timestamp: new Date('2020-01-01T00:00:00.000Z'),
  context: { ip: '203.0.113.9', userAgent: 'story/1.0' },
  integrations: { All: false, Webhooks: true },
});
analytics.page({
  anonymousId: 'anon-1',
  category: 'Docs',
  name: 'Home',
  properties: { url: 'https://shop.example/', title: 'Größe ✓' },
});
analytics.screen({ userId: 'user-1', name: 'Main', properties: { tab: 'orders' } });
analytics.group({ userId: 'user-1', groupId: 'group-1', traits: { name: 'Acme', employees: 42 } });
analytics.alias({ userId: 'user-2', previousId: 'user-1' });
await analytics.flush();
