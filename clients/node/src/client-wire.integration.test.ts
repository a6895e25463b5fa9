/** `contract/cases/client-wire.json`: this client sends the same bytes as every client of ours. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { caseFiles, type Fill, filled } from '../testing/contract-cases.ts';
import { serveAnswers } from '../testing/serve-answers.ts';
import type { CallType } from './calls.ts';
import { InvalidCallError, Millrace, type Options } from './index.ts';

interface Case {
  name: string;
  options?: Options;
  calls: ({ type: CallType } & Record<string, unknown>)[];
  times?: number;
  fills?: Fill[];
  fixed: { now: string; messageIds: string[]; library: { name: string; version: string } };
  body?: string;
  requests?: { calls: number; bytes: number }[];
  refused?: string;
}

for (const { file, cases } of caseFiles<Case>('client')) {
  suite(file, () => {
    for (const each of cases) test(each.name, () => run(each));
  });
}

async function run({ options, fixed, fills, ...each }: Case): Promise<void> {
  await using server = await serveAnswers();
  let made = 0;
  await using client = new Millrace('key', {
    ...options,
    endpoint: server.url,
    now: () => Date.parse(fixed.now),
    makeId: () => fixed.messageIds[made++] ?? `m${made}`,
    library: fixed.library,
  });
  const calls = JSON.parse(filled(JSON.stringify(each.calls), fills)) as Case['calls'];
  const make = () => {
    // The cases hold what is wrong, too, which the types would not let through.
    for (const { type, ...call } of calls) client[type](call as never);
  };
  if (each.refused !== undefined) {
    assert.throws(make, (error) => error instanceof InvalidCallError && error.code === each.refused);
    assert.deepEqual(await client.flush(), { sent: 0, failed: 0, dropped: 0, kept: 0 });
    return assert.equal(server.requests.length, 0);
  }
  for (let n = 0; n < (each.times ?? 1); n += 1) make();
  await client.flush();
  if (each.body !== undefined) {
    return assert.deepEqual(
      server.requests.map(({ body }) => body),
      [filled(each.body, fills)],
    );
  }
  const sent = server.requests.map(({ calls, body }) => ({ calls: calls.length, bytes: Buffer.byteLength(body) }));
  assert.deepEqual(sent, each.requests);
}
