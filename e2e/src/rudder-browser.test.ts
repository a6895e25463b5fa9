import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { ROOT_DIR } from '@millrace/engines';
import { driver } from './run-client.ts';
import type { SiteFile } from './site.ts';
import { story, WRITE_KEY } from './story.ts';
import { assertAskedFirst, tellInBrowser } from './tell-in-browser.ts';
import { assertTold, tellStory } from './tell-story.ts';

const LIBRARY = join(ROOT_DIR, 'node_modules/@rudderstack/analytics-js/dist/npm/modern/bundled/umd/index.js');

function files(path: string): SiteFile | undefined {
  if (path === '/npm') return { file: driver('rudder-browser/npm.html') };
  return path === '/rudder/index.js' ? { file: LIBRARY } : undefined;
}

suite('@rudderstack/analytics-js 3.34.1 in Chromium', () => {
  const { screen: _, ...spoken } = story;
  const says = {
    ...spoken,
    // It sends traits in the context, its own user agent, and no property that is null.
    identify: { userId: 'user-1', context: { traits: story.identify['traits'] } },
    track: {
      ...story.track,
      properties: { revenue: 12.5, currency: 'EUR', products: [{ sku: 'A-1', quantity: 2 }] },
      context: { ip: '203.0.113.9' },
    },
  };
  const sendCalls = (endpoint: string) => ({ endpoint, writeKey: WRITE_KEY });

  test('it takes its configuration from the collector, and calls of every type it has are stored as sent', async () => {
    const told = await tellStory((recorder) => tellInBrowser(recorder, { files, path: '/npm', sendCalls, calls: 5 }));
    assertTold(told, { library: { name: 'RudderLabs JavaScript SDK', version: '3.34.1' }, says });
    const [asked, configured, ...sent] = told.exchanges;
    assert.match(`${asked?.method} ${asked?.path} ${asked?.status}`, /^OPTIONS \/sourceConfig\/\?.* 204$/);
    assert.match(`${configured?.method} ${configured?.path} ${configured?.status}`, /^GET \/sourceConfig\/\?.* 200$/);
    assertAskedFirst(sent, ['/v1/page', '/v1/identify', '/v1/track', '/v1/group', '/v1/alias']);
  });
});
