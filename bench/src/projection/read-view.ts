/** A process that does what collect and deliver do when they start: reads the whole configuration. Prints how it went. */
import { openLog } from '../../../server/src/log.ts';
import { openStream } from '../../../server/src/stream/open-stream.ts';
import { STREAM_SETTINGS } from '../stream-settings.ts';

const [natsUrl = '', sourceId = ''] = process.argv.slice(2);
const log = openLog({ level: 'error', pretty: false });
await using stream = await openStream({ natsUrl, settings: STREAM_SETTINGS, log });
const emptyRssMb = rssMb();
await using view = await stream.configView();
// Since the process began, as an operator would count it.
const readySeconds = performance.now() / 1_000;
const rssAtOnceMb = rssMb();
globalThis.gc?.();
const destinations = view.destinationsOf(sourceId).length;
console.log(JSON.stringify({ readySeconds, destinations, emptyRssMb, rssAtOnceMb, rssMb: rssMb() }));

function rssMb(): number {
  return Math.round(process.memoryUsage.rss() / 1_048_576);
}
