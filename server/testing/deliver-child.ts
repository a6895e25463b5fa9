/** The deliver role as a process of its own, which a test can kill. Started with the URL of NATS and the settings as JSON. */
import { openLog } from '../src/log.ts';
import type { StreamSettings } from '../src/stream/layout/layout.ts';
import { openStream } from '../src/stream/open-stream.ts';
import { type DeliverSettings, startDeliver } from '../src/deliver/start-deliver.ts';
import { SETTINGS, SIGNER } from './deliver-bed.ts';
import { STREAM_SETTINGS } from './stream-settings.ts';

const [natsUrl = '', change = '{}'] = process.argv.slice(2);
const log = openLog({ level: 'silent', pretty: false });
const settings: StreamSettings = { ...STREAM_SETTINGS, replicas: 1 };
const stream = await openStream({ natsUrl, settings, log });
const config = await stream.configView({ check: SIGNER.check, mayBeUnsigned: false });
const side = await stream.deliverySide();
await startDeliver({
  settings: { ...SETTINGS, ...(JSON.parse(change) as Partial<DeliverSettings>) },
  config,
  side,
  log,
});
