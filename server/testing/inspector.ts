/** Questions to the engine that tests have and no role needs. */
import { jetstreamManager } from '@nats-io/jetstream';
import { headers, nanos } from '@nats-io/nats-core';
import { Kvm } from '@nats-io/kv';
import { type Logger, openLog } from '../src/log.ts';
import { type Connection, connectNats } from '../src/stream/nats/connect-nats.ts';
import { bucketSubject, CONFIG_BUCKET, laneStreamName, laneSubject } from '../src/stream/layout/layout.ts';
import { openQuarantineBox } from '../src/stream/quarantine/quarantine.ts';

const SILENT = openLog({ level: 'silent', pretty: false });

export async function openInspector(url: string, log: Logger) {
  // No role may look at everything.
  const adminUrl = url.replaceAll(/nats:\/\/(?=[^@,]*(,|$))/g, 'nats://admin:admin@');
  const connection = await connectNats({ url: adminUrl, name: 'tests', log });
  const manager = await jetstreamManager(connection.nc);
  const subjectsOf = async (stream: string) =>
    (await manager.streams.info(stream, { subjects_filter: '>' })).state.subjects ?? {};
  return {
    manager,
    async deadLetters<T>(): Promise<T[]> {
      const { state } = await manager.streams.info('DEAD');
      const letters: T[] = [];
      for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq += 1) {
        const message = await manager.streams.getMessage('DEAD', { seq });
        if (message !== null) letters.push(message.json<T>());
      }
      return letters;
    },
    deadLetterCount: async (destinationId: string) => (await subjectsOf('DEAD'))[`dead.${destinationId}`] ?? 0,
    /** Everything that a stream holds, as text. */
    async textOf(stream: string): Promise<string> {
      const { state } = await manager.streams.info(stream);
      const parts: string[] = [];
      for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq += 1) {
        const message = await manager.streams.getMessage(stream, { seq });
        if (message !== null) parts.push(message.string());
      }
      return parts.join('\n');
    },
    publish: (subject: string, text: string, own?: Record<string, string>) =>
      publish(connection, { subject, text, own }),
    quarantine: openQuarantineBox(manager),
    laneGroups: () => subjectsOf('LANES-0'),
    tickets: async () => Object.keys(await subjectsOf('TICKETS')),
    /** Requests from the oldest unacknowledged one on. A consumer's own count may miss requests stored a moment ago. */
    async unsettled(): Promise<number> {
      const { state } = await manager.streams.info('EVENTS-0');
      const { ack_floor: floor } = await manager.consumers.info('EVENTS-0', 'deliver');
      return state.last_seq - floor.stream_seq;
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** The config bucket as an attacker with a NATS connection and nothing else can change it. */
export async function openBucketForTests(url: string) {
  const connection = await connectNats({ url, name: 'tests', log: SILENT });
  const open = () => new Kvm(connection.nc).open(CONFIG_BUCKET);
  const manager = await jetstreamManager(connection.nc);
  return {
    async get(key: string): Promise<string> {
      return (await (await open()).get(key))?.string() ?? '';
    },
    async put(key: string, text: string): Promise<void> {
      await (await open()).put(key, text);
    },
    async remove(key: string): Promise<void> {
      await (await open()).delete(key);
    },
    async all(): Promise<Map<string, string>> {
      const entries = new Map<string, string>();
      for await (const entry of await (await open()).history()) {
        if (entry.operation === 'PUT') entries.set(entry.key, entry.string());
      }
      return entries;
    },
    /** Makes the server publish a text as the answer to a request of a user that may not publish it. */
    async smuggle(asDeliver: string, text: string, key: string): Promise<void> {
      await using stolen = await connectNats({ url: asDeliver, inbox: '_INBOX_deliver', name: 'stolen', log: SILENT });
      const lane = laneSubject(0, 'dst_smuggled', 0);
      const { seq } = (await stolen.nc.request(lane, text)).json<{ seq: number }>();
      const reply = bucketSubject(CONFIG_BUCKET, key);
      stolen.nc.publish(`$JS.API.DIRECT.GET.${laneStreamName(0)}`, JSON.stringify({ seq }), { reply });
      await stolen.nc.flush();
    },
    async subjectsOf(stream: string): Promise<string[]> {
      return Object.keys((await manager.streams.info(stream, { subjects_filter: '>' })).state.subjects ?? {});
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

type Sent = { subject: string; text: string; own: Record<string, string> | undefined };

async function publish({ nc }: Connection, { subject, text, own = {} }: Sent): Promise<void> {
  const head = headers();
  for (const [name, value] of Object.entries(own)) head.append(name, value);
  await nc.request(subject, text, { headers: head, timeout: 5_000 });
}

/** Milliseconds as the engine wants them. */
export const nanosOf = (ms: number): number => nanos(ms);
