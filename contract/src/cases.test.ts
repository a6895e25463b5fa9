import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import {
  type AcceptedEvent,
  acceptRequest,
  batchBody,
  type BatchItem,
  batchItem,
  type BodyFormat,
  brokenRule,
  checkRequest,
  deleteBody,
  type DeleteEvent,
  type Envelope,
  type FilterRule,
  formatTimestamp,
  parseCall,
  parseTimestamp,
  REFUSALS,
  type RequestShape,
  ruleProblems,
  selectsDestination,
  signBody,
  signStandardWebhook,
  webhookBody,
} from './index.ts';

interface Case {
  name: string;
  input: string;
  expect: string;
  events?: string;
  fills?: { mark: string; text: string; times: number }[];
  shape?: RequestShape;
  address?: string;
  browser?: boolean;
  destination?: string;
  rules?: string;
  format?: BodyFormat | 'delete';
  scheme?: 'hmac-sha1' | 'standard-webhooks';
}

interface CaseFile {
  file: string;
  kind: string;
  envelope: Pick<Envelope, 'receivedAt' | 'requestId'>;
  cases: Case[];
}

const folder = new URL('../cases/', import.meta.url);
const files = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file): CaseFile => ({ file, ...JSON.parse(readFileSync(new URL(file, folder), 'utf8')) }))
  // Those two kinds need a server, or a client library.
  .filter(({ kind }) => kind !== 'http' && kind !== 'client');

for (const file of files) {
  suite(file.file, () => {
    for (const each of file.cases) test(each.name, () => run(each, file));
  });
}

suite('the cases', () => {
  const cases = files.flatMap((file) => file.cases);

  test('are at least 150', () => {
    assert.ok(cases.length >= 150, `only ${cases.length}`);
  });

  test('show every code a call can be refused with', () => {
    const shown = new Set(cases.flatMap(({ expect }) => /^\{"code":"(\w+)"/.exec(expect)?.[1] ?? []));
    const missing = Object.keys(REFUSALS).filter((code) => !shown.has(code));
    assert.deepEqual(missing, []);
  });
});

function run(each: Case, file: CaseFile): void {
  const input = filled(each.input, each);
  const expected = filled(each.expect, each);
  switch (file.kind) {
    case 'call':
      return assert.equal(answerToCall(input, envelopeOf(each, file)), expected);
    case 'request':
      return runRequest(input, each, file);
    case 'timestamp':
      return assert.equal(answerToTimestamp(input), expected);
    case 'selection':
      return assert.equal(String(selectsDestination(JSON.parse(input) ?? undefined, each.destination ?? '')), expected);
    case 'filter':
      return assert.equal(stoppedBy(input, each), expected);
    case 'body':
      return assert.equal(bodyOf(input, each.format), expected);
    case 'signature':
      return assert.equal(JSON.stringify(signatureOf(input, each.scheme)), expected);
    default:
      assert.fail(`${file.file} is of a kind that nothing runs: ${file.kind}`);
  }
}

function runRequest(input: string, each: Case, file: CaseFile): void {
  const body: unknown = JSON.parse(input);
  const envelope = envelopeOf(each, file);
  const check = checkRequest(body, envelope.shape, Buffer.byteLength(input));
  const refused = check.refused.map((refusal) => ({ ...refusal, message: undefined }));
  const answer = check.ok
    ? { accepted: check.accepted, refused, messageIds: check.messageIds ?? null, wantsAddress: check.wantsAddress }
    : { code: check.problem.code, refused };
  assert.equal(JSON.stringify(answer), filled(each.expect, each));
  if (each.events === undefined) return;
  const events = acceptRequest(body, { ...envelope, refused: refused.map(({ index }) => index) });
  assert.equal(JSON.stringify(events), filled(each.events, each));
}

function answerToCall(input: string, envelope: Envelope): string {
  const parsed = parseCall(JSON.parse(input), envelope);
  return JSON.stringify(parsed.ok ? parsed.value : { code: parsed.problem.code });
}

function answerToTimestamp(input: string): string {
  const epochMs = parseTimestamp(JSON.parse(input));
  return epochMs === undefined ? 'null' : JSON.stringify(formatTimestamp(epochMs));
}

function stoppedBy(input: string, { rules = '[]' }: Case): string {
  const given = JSON.parse(rules) as FilterRule[];
  for (const rule of given) assert.deepEqual(ruleProblems(rule), []);
  const broken = brokenRule(JSON.parse(input), given);
  return broken === undefined ? 'null' : String(given.indexOf(broken));
}

function bodyOf(input: string, format: Case['format']): string {
  const event = JSON.parse(input);
  if (format === 'batch' || format === 'batch-full') return batchOf(event, format);
  return format === 'delete' ? deleteBody(event) : webhookBody(event, format ?? 'documented');
}

type BatchedEvent = BatchItem & { event: AcceptedEvent | DeleteEvent };

function batchOf(events: BatchedEvent[], format: BodyFormat): string {
  const bodies = events.map(({ event }) => (event.type === 'delete' ? deleteBody(event) : webhookBody(event, format)));
  return batchBody(events.map((each, place) => batchItem(each, bodies[place] ?? '')));
}

function signatureOf(input: string, scheme: Case['scheme']): string {
  const given = JSON.parse(input);
  return scheme === 'hmac-sha1' ? signBody(given.secret, given.body) : signStandardWebhook(given.secrets, given);
}

function envelopeOf({ shape = 'batch', address, browser }: Case, { envelope }: CaseFile): Envelope {
  return { shape, ...envelope, ...(address !== undefined && { address }), ...(browser !== undefined && { browser }) };
}

function filled(text: string, { fills = [] }: Case): string {
  return fills.reduce((whole, { mark, text, times }) => whole.replaceAll(mark, () => text.repeat(times)), text);
}
