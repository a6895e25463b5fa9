import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { openLog } from '../../log.ts';
import { connectNats } from './connect-nats.ts';
import { openStream } from '../open-stream.ts';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';

const log = openLog({ level: 'silent', pretty: false });

suite('a message that a process cannot read', () => {
  for (const [subject, text] of [
    ['seen', 'not JSON'],
    ['refused', '[]'],
    ['tail.want.src_1', 'null'],
  ] as const) {
    test(`on ${subject} is dropped, and the process hears the next one`, { timeout: 30_000 }, async () => {
      await using cluster = await startNatsCluster();
      await using stream = await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log });
      await using other = await connectNats({ url: cluster.url, name: 'other', log });
      const { promise, resolve } = Promise.withResolvers<string>();
      let sightings = 0;
      using seen = stream.onSeen(({ sourceId }) => {
        sightings += 1;
        // Between the first and the second there was one of the others.
        if (sightings === 2) resolve(sourceId);
      });
      using refused = stream.onRefused(({ samples }) => void samples.length);
      using tail = stream.tailWriter();
      assert.ok(seen && refused && tail);
      const sighting = { workspaceId: 'ws_1', sourceId: 'src_1', keyHashes: [], events: [], at: '' };
      // Again and again: the server may hear of the subscriptions after it has heard of the first message.
      const timer = setInterval(() => {
        other.nc.publish(subject, text);
        other.nc.publish('seen', JSON.stringify(sighting));
      }, 50);
      assert.equal(await promise.finally(() => clearInterval(timer)), 'src_1');
    });
  }
});
