import { configKey, type DestinationConfig, isSourceConfig, openBucket, type SourceConfig } from './config-bucket.ts';
import type { Connection } from './connect-nats.ts';
import { CONFIG_BUCKET } from './layout.ts';
import type { Publication, PublishAnswer, Publisher } from './publish.ts';

/** One entry of the bucket: what it should hold, or undefined when it should not be there. */
export type ConfigChange = { key: string; value: string | undefined };

export type ConfigWriter = {
  /** All of them, many at a time; resolves when the last is stored, rejects when one may not be. */
  write(changes: readonly ConfigChange[]): Promise<void>;
  /** What is longer is refused by the engine, however often it is tried. */
  maxValueBytes(): number;
  /** Calls with every entry that the bucket holds. */
  readAll(visit: (key: string, value: string) => void): Promise<void>;
  putSource(source: SourceConfig): Promise<void>;
  deleteSource(id: string): Promise<void>;
  putDestination(destination: DestinationConfig): Promise<void>;
  deleteDestination(id: string): Promise<void>;
};

export type ConfigWriterNeeds = {
  publishing: Connection;
  publisher: Publisher;
  /** A connection of its own, for reading everything: on a shared one, what others wait for would stand behind it. */
  connect(): Promise<Connection>;
};

/** The engine did not take the change: the caller tries again. */
export class ConfigNotWritten extends Error {
  override readonly name = 'ConfigNotWritten';
}

const AT_ONCE = 256;
const ANSWER_TIMEOUT_MS = 2_000;
const DEFAULT_MAX_PAYLOAD = 1_048_576;

export function openConfigWriter({ publishing, publisher, connect }: ConfigWriterNeeds): ConfigWriter {
  const write = async (changes: readonly ConfigChange[]): Promise<void> => {
    for (let start = 0; start < changes.length; start += AT_ONCE) {
      // What is published without a connection would be sent at the reconnect, perhaps after something newer.
      if (!publishing.isConnected()) throw new ConfigNotWritten('no NATS server can be reached');
      await publishAll(publisher, changes.slice(start, start + AT_ONCE));
    }
  };
  return {
    write,
    // The limit is on the message as a whole: its headers take some of it.
    maxValueBytes: () => (publishing.nc.info?.max_payload ?? DEFAULT_MAX_PAYLOAD) - 1_024,
    readAll: (visit) => readBucket(connect, visit),
    async putSource(source) {
      if (!isSourceConfig(source))
        throw new Error(`source ${JSON.stringify(source)} is not one that collect can act on`);
      await write([{ key: configKey.source(source.id), value: JSON.stringify(source) }]);
    },
    deleteSource: (id) => write([{ key: configKey.source(id), value: undefined }]),
    putDestination: (destination) =>
      write([{ key: configKey.destination(destination.id), value: JSON.stringify(destination) }]),
    deleteDestination: (id) => write([{ key: configKey.destination(id), value: undefined }]),
  };
}

/** One after the other would take a sync of the disk each; side by side they share them. */
async function publishAll(publisher: Publisher, changes: readonly ConfigChange[]): Promise<void> {
  const stopWaiting: (() => void)[] = [];
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new ConfigNotWritten(`no answer within ${ANSWER_TIMEOUT_MS} ms`));
  }, ANSWER_TIMEOUT_MS);
  const publishOne = (change: ConfigChange) =>
    new Promise<void>((resolve, reject) => {
      const answered = (answer: PublishAnswer) => {
        if (answer.kind === 'stored') resolve();
        else reject(new ConfigNotWritten(`${answer.kind}: ${answer.description}`));
      };
      stopWaiting.push(publisher.publish(toPublication(change), answered));
    });
  try {
    await Promise.race([late.promise, Promise.all(changes.map(publishOne))]);
  } finally {
    clearTimeout(timer);
    for (const stop of stopWaiting) stop();
  }
}

/** What the KV library would send, over our own publisher. */
function toPublication({ key, value }: ConfigChange): Publication {
  const subject = `$KV.${CONFIG_BUCKET}.${key}`;
  if (value !== undefined) return { subject, payload: Buffer.from(value) };
  return { subject, payload: new Uint8Array(), headers: [['KV-Operation', 'DEL']] };
}

async function readBucket(
  connect: ConfigWriterNeeds['connect'],
  visit: (key: string, value: string) => void,
): Promise<void> {
  await using connection = await connect();
  const bucket = await openBucket(connection.nc);
  for await (const entry of await bucket.history()) {
    if (entry.operation === 'PUT') visit(entry.key, entry.string());
  }
}
