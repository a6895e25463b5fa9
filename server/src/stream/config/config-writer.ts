import { jetstreamManager } from '@nats-io/jetstream';
import { bareValue, type EntrySigner, type EntryVerdict, MAC_BYTES } from '../../secrets/sign-entry.ts';
import { isSourceConfig } from '../../domain/read-config.ts';
import { configKey, openBucket } from './config-bucket.ts';
import type { DestinationConfig, SourceConfig } from '../../domain/configuration.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { bucketStream, bucketSubject, CONFIG_BUCKET } from '../layout/layout.ts';
import type { Publication, PublishAnswer, Publisher } from '../nats/publish.ts';
import type { Quarantine } from '../quarantine/quarantine.ts';

/** One entry of the bucket; `value` is undefined for a deletion. */
export type ConfigChange = { key: string; value: string | undefined };
/** NATS refused the change, and will refuse it again until something else changes. */
export type ConfigRefusal = { key: string; kind: 'too_large' | 'full' | 'refused'; why: string };
export type ConfigRoom = { maxBytes: number; usedBytes: number };
/**
 * The state of one key in the bucket. Every watch has seen `deleted`; some may not know of `absent`. `bytes` are those of the value
 * with its MAC.
 */
export type CurrentEntry =
  | { kind: 'put'; value: string; bytes: number; verdict: EntryVerdict }
  | { kind: 'deleted' }
  | { kind: 'absent' };

export type ConfigWriter = {
  /** All of them, many at a time; resolves when each is stored or refused, rejects when that is not known of one. */
  write(changes: readonly ConfigChange[]): Promise<ConfigRefusal[]>;
  /** As `write`; a bucket that is full loses the key's old entry first, so that a shorter one always finds room. */
  replace(change: ConfigChange): Promise<ConfigRefusal | undefined>;
  current(key: string): Promise<CurrentEntry>;
  room(): Promise<ConfigRoom>;
  /** The text that the bucket stores for this value: with a MAC, if the writer has the key ring. */
  textOf(key: string, value: string): string;
  /** NATS refuses longer values, however often they are tried. */
  maxValueBytes(): number;
  /** Calls with every entry that the bucket holds, and its revision. */
  readAll(visit: (key: string, value: string, revision: number) => void): Promise<void>;
  /** For unreadable entries. */
  quarantine: Quarantine;
  /** Whether a process with the key ring wrote this text; always true without a ring. */
  isAuthentic(key: string, text: string): boolean;
  putSource(source: SourceConfig): Promise<void>;
  deleteSource(id: string): Promise<void>;
  putDestination(destination: DestinationConfig): Promise<void>;
  deleteDestination(id: string): Promise<void>;
};

export type ConfigWriterNeeds = {
  publishing: Connection;
  publisher: Publisher;
  quarantine: Quarantine;
  /** A connection of its own, for reading everything: on a shared one, it would delay other answers. */
  connect(): Promise<Connection>;
  /** Signs entries, for the processes that check them. */
  signer?: EntrySigner | undefined;
};

/** NATS did not take the change: the caller tries again. */
export class ConfigNotWritten extends Error {
  override readonly name = 'ConfigNotWritten';
}

/** Entries and bytes that are on their way at once: all of them are answered well within the timeout. */
const AT_ONCE = { entries: 256, bytes: 2_097_152 };
const ANSWER_TIMEOUT_MS = 2_000;
const DEFAULT_MAX_PAYLOAD = 1_048_576;
/** The limit is on the message as a whole: its headers take some of it. */
const HEADER_BYTES = 512;
/** How much an entry may grow when its destination is turned off. */
const OFF_BYTES = 512;

export function openConfigWriter(needs: ConfigWriterNeeds): ConfigWriter {
  const { publishing, publisher, quarantine, connect, signer } = needs;
  const maxMessageBytes = () => publishing.nc.info?.max_payload ?? DEFAULT_MAX_PAYLOAD;
  const write = async (changes: readonly ConfigChange[]): Promise<ConfigRefusal[]> => {
    const maxBytes = maxMessageBytes() - HEADER_BYTES - MAC_BYTES;
    const refusals: ConfigRefusal[] = [];
    for (const slice of slicesOf(changes.filter((change) => bytesOf(change) <= maxBytes))) {
      // The library would send it at the reconnect, perhaps after something newer.
      if (!publishing.isConnected()) throw new ConfigNotWritten('no NATS server can be reached');
      refusals.push(...(await publishAll({ publisher, signer }, slice)));
    }
    const tooLarge = changes.filter((change) => bytesOf(change) > maxBytes);
    return [...refusals, ...tooLarge.map((change) => refusalOf(change, maxBytes))];
  };
  const mustWrite = async (change: ConfigChange): Promise<void> => {
    const [refusal] = await write([change]);
    if (refusal !== undefined) throw new ConfigNotWritten(refusal.why);
  };
  return {
    write,
    async replace(change) {
      const [refusal] = await write([change]);
      if (refusal?.kind !== 'full') return refusal;
      await forget(publishing, change.key);
      return (await write([change]))[0];
    },
    current: (key) => readEntry(publishing, key, signer),
    room: () => readRoom(publishing),
    textOf: (key, value) => signer?.sign(key, value) ?? value,
    maxValueBytes: () => maxMessageBytes() - HEADER_BYTES - MAC_BYTES - OFF_BYTES,
    quarantine,
    isAuthentic: (key, text) => isAuthentic(signer, key, text),
    readAll: (visit) => readBucket(connect, visit),
    putSource: async (source) => mustWrite(sourceChange(source)),
    deleteSource: (id) => mustWrite({ key: configKey.source(id), value: undefined }),
    putDestination: (destination) =>
      mustWrite({ key: configKey.destination(destination.id), value: JSON.stringify(destination) }),
    deleteDestination: (id) => mustWrite({ key: configKey.destination(id), value: undefined }),
  };
}

const CONFIG_STREAM = bucketStream(CONFIG_BUCKET);
const API = { checkAPI: false, timeout: ANSWER_TIMEOUT_MS };

async function readRoom({ nc }: Connection): Promise<ConfigRoom> {
  const { config, state } = await (await jetstreamManager(nc, API)).streams.info(CONFIG_STREAM);
  // Without a limit of its own the bucket has that of the servers, which we do not see from here.
  return { maxBytes: config.max_bytes > 0 ? config.max_bytes : Number.MAX_SAFE_INTEGER, usedBytes: state.bytes };
}

/** From the leader: a follower may not have the latest writes. */
async function readEntry({ nc }: Connection, key: string, signer: EntrySigner | undefined): Promise<CurrentEntry> {
  const manager = await jetstreamManager(nc, API);
  const message = await manager.streams.getMessage(CONFIG_STREAM, { last_by_subj: subjectOf(key) });
  if (message === null) return { kind: 'absent' };
  if (message.header.get('KV-Operation') !== '') return { kind: 'deleted' };
  const text = message.string();
  const verdict = signer?.check({ key, text, isDeletion: false }) ?? 'authentic';
  return { kind: 'put', value: bareValue(text), bytes: message.data.length, verdict };
}

function sourceChange(source: SourceConfig): ConfigChange {
  if (!isSourceConfig(source)) throw new Error(`source ${JSON.stringify(source)} is not one that collect can act on`);
  return { key: configKey.source(source.id), value: JSON.stringify(source) };
}

function isAuthentic(signer: EntrySigner | undefined, key: string, text: string): boolean {
  return signer === undefined || signer.check({ key, text, isDeletion: false }) === 'authentic';
}

async function forget({ nc }: Connection, key: string): Promise<void> {
  const manager = await jetstreamManager(nc, API);
  await manager.streams.purge(CONFIG_STREAM, { filter: subjectOf(key) });
}

function bytesOf({ value = '' }: ConfigChange): number {
  return Buffer.byteLength(value);
}

function refusalOf(change: ConfigChange, maxBytes: number): ConfigRefusal {
  const why = `the entry has ${bytesOf(change)} bytes, and NATS takes at most ${maxBytes}`;
  return { key: change.key, kind: 'too_large', why };
}

function* slicesOf(changes: readonly ConfigChange[]): Generator<ConfigChange[]> {
  let slice: ConfigChange[] = [];
  let bytes = 0;
  for (const change of changes) {
    if (slice.length === AT_ONCE.entries || (slice.length > 0 && bytes + bytesOf(change) > AT_ONCE.bytes)) {
      yield slice;
      slice = [];
      bytes = 0;
    }
    slice.push(change);
    bytes += bytesOf(change);
  }
  if (slice.length > 0) yield slice;
}

/** One after the other would take a sync of the disk each; side by side they share them. */
async function publishAll(
  { publisher, signer }: Pick<ConfigWriterNeeds, 'publisher' | 'signer'>,
  changes: readonly ConfigChange[],
): Promise<ConfigRefusal[]> {
  const stopWaiting: (() => void)[] = [];
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new ConfigNotWritten(`no answer within ${ANSWER_TIMEOUT_MS} ms`));
  }, ANSWER_TIMEOUT_MS);
  const publishOne = (change: ConfigChange) =>
    new Promise<ConfigRefusal[]>((resolve, reject) => {
      const answered = (answer: PublishAnswer) => {
        if (answer.kind === 'stored') resolve([]);
        else if (answer.kind === 'full' || answer.kind === 'refused') {
          resolve([{ key: change.key, kind: answer.kind, why: `NATS refused the entry: ${answer.description}` }]);
        } else reject(new ConfigNotWritten(`${answer.kind}: ${answer.description}`));
      };
      stopWaiting.push(publisher.publish(toPublication(change, signer), answered));
    });
  try {
    return (await Promise.race([late.promise, Promise.all(changes.map(publishOne))])).flat();
  } finally {
    clearTimeout(timer);
    for (const stop of stopWaiting) stop();
  }
}

/** The same message that the KV library would send, over our own publisher. */
function toPublication({ key, value }: ConfigChange, signer: EntrySigner | undefined): Publication {
  const subject = subjectOf(key);
  const payload = Buffer.from(signer?.sign(key, value) ?? value ?? '');
  return value === undefined ? { subject, payload, headers: [['KV-Operation', 'DEL']] } : { subject, payload };
}

function subjectOf(key: string): string {
  return bucketSubject(CONFIG_BUCKET, key);
}

async function readBucket(
  connect: ConfigWriterNeeds['connect'],
  visit: (key: string, value: string, revision: number) => void,
): Promise<void> {
  await using connection = await connect();
  const bucket = await openBucket(connection.nc);
  for await (const entry of await bucket.history()) {
    if (entry.operation === 'PUT') visit(entry.key, entry.string(), entry.revision);
  }
}
