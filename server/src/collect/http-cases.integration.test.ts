/** The cases that the client libraries are tested with too, against the real server. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, beforeEach, suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { SOURCE, startCollect } from '../../testing/bad-inputs/running-collect.ts';
import { type HttpAnswer, send } from '../../testing/bad-inputs/send.ts';
import { hashOfKey } from './find-write-key.ts';

interface HttpCase {
  name: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  bodyText: string;
  gzip: boolean;
  fills?: { mark: string; text: string; times: number }[];
  expectStatus: number;
  expect?: string;
}

const FILE = new URL('../../../contract/cases/http.json', import.meta.url);
const { cases }: { cases: HttpCase[] } = JSON.parse(readFileSync(FILE, 'utf8'));
/** Answered with 200, and no call is in them. */
const STORES_NOTHING = new Set(['/v1/m', '/v1/pixel/track?data=nonsense', '/v1/projects/demo-write-key/settings']);

const collect = await startCollect();
after(() => collect[Symbol.asyncDispose]());
await collect.putSource({ ...SOURCE, id: 'src_demo', writeKeyHashes: [hashOfKey('demo-write-key')] });
beforeEach(() => collect.takeStored());

suite('contract/cases/http.json', () => {
  for (const each of cases) {
    test(each.name, async () => {
      const text = filled(each);
      const body = each.gzip ? gzipSync(text) : text;
      const answer = await send(collect.port, { ...each, body });
      assert.equal(answer.status, each.expectStatus, answer.bytes.toString());
      if (each.expect !== undefined) assert.equal(withoutSentences(answer), each.expect);
      const isStored = each.expectStatus === 200 && !STORES_NOTHING.has(each.path);
      assert.equal((await collect.takeStored()).length, isStored ? 1 : 0);
    });
  }

  test('holds at least 60 cases', () => {
    assert.ok(cases.length >= 60);
  });
});

function filled({ bodyText, fills = [] }: HttpCase): string {
  return fills.reduce((text, { mark, text: fill, times }) => text.replaceAll(mark, fill.repeat(times)), bodyText);
}

/** Codes are the contract; the sentences beside them may be reworded. */
function withoutSentences(answer: HttpAnswer): string {
  return JSON.stringify(
    JSON.parse(answer.bytes.toString(), (key, value: unknown) => (key === 'message' ? undefined : value)),
  );
}
