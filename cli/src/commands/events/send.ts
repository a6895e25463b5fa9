/** `millrace send`: a call, or a batch of them, to the collection API. */
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import process from 'node:process';
import type { Source } from '@millrace/contract/control';
import type { Command } from 'commander';
import { counted } from '@millrace/console/format/numbers';
import { environmentCollect, serverAddress } from '../../api/choose-server.ts';
import { type CollectAnswer, findCollectUrl, sendCalls } from '../../api/collect.ts';
import type { Control } from '../../api/control.ts';
import { findSource } from '../../api/find-named.ts';
import { connect, findServer, type ServerOptions, timeoutMs } from '../../api/server-options.ts';
import { readEnvironment } from '../../environment.ts';
import { withExamples } from '../../output/example-of.ts';
import { Failure } from '../../output/failures.ts';
import { inline, print, printJson } from '../../output/print.ts';
import { apiCommand, type JsonOption } from '../api-command.ts';
import { tellStory, waitForStory } from './explain.ts';
import { type CallOptions, makeCall, readBatch } from './make-call.ts';

type SendOptions = ServerOptions &
  JsonOption &
  CallOptions & { source?: string; writeKey?: string; collect?: string; wait?: true };

/** A batch holds 512,000 bytes and 2,500 calls at most. */
const MOST_CALLS = 500;
const MOST_BYTES = 400_000;

export function sendCommand(): Command {
  const many = (value: string, before: string[] = []) => [...before, value];
  const command = apiCommand('send <type> [name]', 'send a call, or a batch of calls from standard input, to a source')
    .option('--source <name>', 'the source, by name or id; its write key is looked up')
    .option('--write-key <key>', 'the write key itself, in place of --source; MILLRACE_WRITE_KEY')
    .option(
      '--collect <url>',
      'address of the collection API; MILLRACE_COLLECT_URL, the profile, or what the server says',
    )
    .option('--user <id>', 'userId of the call')
    .option('--anonymous <id>', 'anonymousId of the call')
    .option('--group <id>', 'groupId of a group call')
    .option('--previous <id>', 'previousId of an alias call')
    .option('--prop <name=value>', 'a property; the value may be JSON; repeat it for more', many)
    .option('--trait <name=value>', 'a trait of an identify or group call; repeat it for more', many)
    .option('--context <json>', 'the context object of the call')
    .option('--message-id <id>', 'messageId of the call; a random one unless given')
    .option('--timestamp <time>', 'when it happened, such as 2026-11-16T09:00:00Z')
    .option('--wait', 'wait for the first answer of every destination, and tell it')
    .action(send);
  return withExamples(
    command,
    {
      run: 'millrace send track "Order Completed" --source web --user u1 --prop revenue=12.5 --wait',
      shows: 'sends an event, and tells what each destination answered',
    },
    {
      run: `echo '{"type":"identify","userId":"u1","traits":{"plan":"pro"}}' | millrace send batch --source web`,
      shows: 'sends the calls of a file or of another program, one a line',
    },
  );
}

async function send(type: string, name: string | undefined, options: SendOptions): Promise<void> {
  const calls =
    type === 'batch'
      ? readBatch(await text(process.stdin))
      : [makeCall(type, name, options, () => `cli-${randomUUID()}`)];
  const { control, url, writeKey } = await findCollect(options);
  const collect = { url, writeKey, timeoutMs: timeoutMs(options.timeout) };
  let answer: CollectAnswer = { success: true };
  for (const part of inParts(calls)) answer = merge(answer, await sendCalls(collect, part));
  const messageId = (calls[0] as { messageId?: string }).messageId ?? '';
  if (options.json) printJson({ ...answer, ...(calls.length === 1 ? { messageId } : {}) });
  else tellSent(answer, calls.length, messageId);
  if (options.wait === true && calls.length === 1) {
    const story = await waitForStory(control ?? (await connect(options)), messageId);
    if (!options.json) tellStory(story);
  }
  if ((answer.rejected ?? []).length > 0) throw someRefused(answer);
}

type Collect = { control?: Control; url: string; writeKey: string };

/** With a write key and an address no server is asked. */
async function findCollect(options: SendOptions): Promise<Collect> {
  const environment = readEnvironment();
  const writeKey = options.writeKey ?? (options.source === undefined ? environment.writeKey : undefined);
  const given = options.collect ?? environmentCollect(options, environment);
  if (writeKey !== undefined && given !== undefined) return { url: serverAddress(given), writeKey };
  if (writeKey === undefined && options.source === undefined) {
    throw new Failure('Which source?', {
      exit: 'usage',
      todo: 'Name it with --source, or give its key with --write-key.',
    });
  }
  const control = await connect(options);
  const own = given ?? (await findServer(options)).collect;
  const url = own === undefined ? await findCollectUrl(control) : serverAddress(own);
  return { control, url, writeKey: writeKey ?? keyOf(await findSource(control, options.source ?? '')) };
}

function keyOf({ name, writeKeys }: Source): string {
  const [first] = writeKeys;
  if (first !== undefined) return first.key;
  throw new Failure(`The source "${inline(name)}" has no write key.`, {
    exit: 'refused',
    todo: `Add one with millrace sources add-key "${inline(name)}".`,
  });
}

function* inParts(calls: readonly object[]): Generator<object[]> {
  let part: object[] = [];
  let bytes = 0;
  for (const call of calls) {
    const size = Buffer.byteLength(JSON.stringify(call));
    if (part.length > 0 && (part.length === MOST_CALLS || bytes + size > MOST_BYTES)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(call);
    bytes += size;
  }
  yield part;
}

function merge(before: CollectAnswer, next: CollectAnswer): CollectAnswer {
  const rejected = [...(before.rejected ?? []), ...(next.rejected ?? [])];
  return { ...next, ...(rejected.length > 0 ? { rejected } : {}) };
}

function tellSent({ rejected = [] }: CollectAnswer, calls: number, messageId: string): void {
  if (calls === 1) print(`Stored. Its messageId is ${inline(messageId)}; millrace explain tells where it went.`);
  else print(`${counted(calls - rejected.length, 'call')} stored.`);
}

function someRefused({ rejected = [] }: CollectAnswer): Failure {
  const [first] = rejected;
  return new Failure(
    inline(
      `Collect refused ${counted(rejected.length, 'call')}, the first with ${first?.code ?? ''}: ${first?.message ?? ''}`,
    ),
    {
      exit: 'refused',
      todo: 'The other calls are stored. docs/use/errors.md explains the codes.',
    },
  );
}
