import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { ROOT_DIR } from '@millrace/engines';
import { driver } from './run-client.ts';
import type { SiteFile } from './site.ts';
import { story, type Story, WRITE_KEY } from './story.ts';
import { assertAskedFirst, tellInBrowser } from './tell-in-browser.ts';
import { assertTold, tellStory } from './tell-story.ts';

const LIBRARY_DIR = join(ROOT_DIR, 'node_modules/@segment/analytics-next/dist/umd');
const SNIPPET_SCRIPT = `/analytics.js/v1/${WRITE_KEY}/analytics.min.js`;

function files(path: string, endpoint: string): SiteFile | undefined {
  switch (path) {
    case '/npm':
      return { file: driver('segment-browser/npm.html') };
    case '/snippet':
      return { file: driver('segment-browser/snippet.html'), fill: { endpoint, writeKey: WRITE_KEY } };
    case SNIPPET_SCRIPT:
      return { file: join(LIBRARY_DIR, 'standalone.js') };
    default:
      return path.startsWith('/analytics-next/') ? { file: join(LIBRARY_DIR, path.slice(16)) } : undefined;
  }
}

suite('@segment/analytics-next 1.84.3 in Chromium', () => {
  const library = { name: 'analytics.js', version: 'next-1.84.3' };
  const says: Story = {
    ...story,
    // The library writes its own user agent, and the present user in place of the new one: that is what it sends.
    track: { ...story.track, context: { ip: '203.0.113.9' } },
    alias: { userId: 'user-1', previousId: 'user-1' },
  };
  const calls = 6;
  const single = ['/v1/p', '/v1/i', '/v1/t', '/v1/s', '/v1/g', '/v1/a'];

  test('the npm build learns from the settings where to send, and each call is stored as sent', async () => {
    const sendCalls = (endpoint: string) => ({ endpoint, writeKey: WRITE_KEY });
    const told = await tellStory((recorder) => tellInBrowser(recorder, { files, path: '/npm', sendCalls, calls }));
    assertTold(told, { library, says });
    assertAskedFirst(told.exchanges, single);
    assert.equal(told.exchanges[0]?.path, `/v1/projects/${WRITE_KEY}/settings`);
    assert.partialDeepStrictEqual(told.events.page, { context: { ip: '127.0.0.1' } }, 'the address it came from');
  });

  test('the npm build sends a batch as text, and each call of it is stored as sent', async () => {
    const deliveryStrategy = { strategy: 'batching', config: { size: calls, timeout: 30_000 } };
    const sendCalls = (endpoint: string) => ({ endpoint, writeKey: WRITE_KEY, deliveryStrategy });
    const told = await tellStory((recorder) => tellInBrowser(recorder, { files, path: '/npm', sendCalls, calls }));
    assertTold(told, { library, says });
    assertAskedFirst(told.exchanges, ['/v1/b']);
    assert.equal(told.exchanges.at(-1)?.headers['content-type'], 'text/plain');
  });

  test('the classic snippet loads the library, and what was called before it came is stored as sent', async () => {
    const told = await tellStory((recorder) => tellInBrowser(recorder, { files, path: '/snippet', calls }));
    assertTold(told, { library, says });
    assertAskedFirst(told.exchanges, single);
  });
});
