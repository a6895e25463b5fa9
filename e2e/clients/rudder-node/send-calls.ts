/** Tells the story with @rudderstack/rudder-sdk-node: `send-calls.ts <endpoint> <write key> [plain]`. */
import RudderAnalytics from '@rudderstack/rudder-sdk-node';

const [dataPlaneUrl = '', writeKey = '', encoding = 'gzip'] = process.argv.slice(2);
const analytics = new RudderAnalytics(writeKey, {
  dataPlaneUrl,
  gzip: encoding === 'gzip',
  errorHandler(error: unknown) {
    console.error(error);
    process.exitCode = 1;
  },
});

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
