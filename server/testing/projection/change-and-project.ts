/** For tests: a process that makes changes and projects them until it is killed. */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLog } from '../../src/log.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { ConfigWriter } from '../../src/stream/config/config-writer.ts';
import { openStream } from '../../src/stream/open-stream.ts';
import { startProjector } from '../../src/projection/project-config.ts';
import { changeAtRandom } from './change-at-random.ts';
import { STREAM_SETTINGS } from '../stream-settings.ts';

const [databaseUrl = '', natsUrl = ''] = process.argv.slice(2);
const log = openLog({ level: 'silent', pretty: false });
const stream = await openStream({ natsUrl, settings: STREAM_SETTINGS, log });
const store = await openStore(databaseUrl);
const configWriter = slow(await stream.configWriter());
const projector = startProjector({ store, configWriter, log });
process.stdout.write('ready\n');
for (;;) {
  // Two changes may insert the same row: the second one fails, and has nothing to do.
  await changeAtRandom(store).catch(() => undefined);
  projector.changed();
}

/** As over a slow network: otherwise next to no kill would fall between a commit and a write, where it matters. */
function slow(writer: ConfigWriter): ConfigWriter {
  return {
    ...writer,
    async write(changes) {
      await sleep(randomInt(15));
      const refusals = await writer.write(changes);
      await sleep(randomInt(15));
      return refusals;
    },
  };
}
