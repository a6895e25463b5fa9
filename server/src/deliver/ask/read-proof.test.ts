import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { suite, test } from 'node:test';
import { openResolver } from '../../http/resolve-name.ts';
import { readNetworks } from '../../http/address-policy.ts';
import { openTestClient } from '../../../testing/client.ts';
import { openNameServer } from '../../../testing/name-server.ts';
import { openReceiver, type Received } from '../../../testing/receiver.ts';
import type { ClientNeeds } from '../client/open-client.ts';
import { readProof } from './read-proof.ts';

const LINE = 'millrace-proof=0123';
const PATH = '/.well-known/millrace-proof';

async function read(url: string, needs: Partial<ClientNeeds> = {}): Promise<string> {
  await using client = openTestClient({ timeoutMs: 1_000, ...needs });
  const answer = await readProof(
    { kind: 'read_proof', workspaceId: 'ws_1', url, lines: ['another', LINE] },
    { client },
  );
  return answer.kind === 'proof_read' ? `${answer.ok} ${answer.detail}` : answer.kind;
}

/** The answer to a host that answers like this. */
async function readFrom(respond: (received: Received, response: ServerResponse) => void): Promise<string> {
  await using receiver = await openReceiver(respond);
  return await read(new URL(PATH, receiver.url).href);
}

suite('the file that proves a host', () => {
  test('is read by a GET without a body, and has the text as one of its lines', async () => {
    await using receiver = await openReceiver((_received, response) => void response.end(`a comment\r\n${LINE}\r\n`));
    assert.equal(await read(new URL(PATH, receiver.url).href), 'true The file has the text.');
    const [one] = receiver.received;
    assert.equal(one?.path, PATH);
    assert.equal(one.headers['content-length'] ?? one.headers['transfer-encoding'], undefined);
    assert.doesNotMatch(JSON.stringify(one), /millrace-proof=/, 'a host that echoes the request proves nothing');
  });

  test('proves nothing with another text, another status or a redirect, and when it is too large or too slow', async () => {
    assert.match(await readFrom((_received, response) => void response.end(`${LINE}4`)), /^false .*no line/);
    assert.match(await readFrom((_received, response) => void response.writeHead(404).end(LINE)), /^false .*404/);
    let proven = 0;
    const redirecting = (received: Received, response: ServerResponse) => {
      if (received.path === PATH) return void response.writeHead(302, { Location: '/proof' }).end();
      proven += 1;
      response.end(LINE);
    };
    assert.match(await readFrom(redirecting), /^false .*302/);
    assert.equal(proven, 0);
    const large = (_received: Received, response: ServerResponse) =>
      void response.end(`${LINE}\n${'x'.repeat(20_000)}`);
    assert.match(await readFrom(large), /^false .*16 KiB/);
    assert.match(await readFrom(() => undefined), /^false .*1 s/);
  });

  test('is not asked for inside the network, whatever the name says', async () => {
    await using receiver = await openReceiver((_received, response) => void response.end(LINE));
    const { port } = new URL(receiver.url);
    await using names = await openNameServer({ 'inside.example': () => ['127.0.0.1'] });
    const needs = { networks: readNetworks(''), resolve: openResolver([names.address]) };
    assert.match(await read(`http://inside.example:${port}${PATH}`, needs), /^false /);
    assert.match(await read(`http://127.0.0.1:${port}${PATH}`, needs), /^false /);
    assert.equal(receiver.received.length, 0);
    assert.match(await read(`http://inside.example:${port}${PATH}`, { resolve: needs.resolve }), /^true /);
  });
});
