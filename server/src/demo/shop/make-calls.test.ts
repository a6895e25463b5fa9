import assert from 'node:assert/strict';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { connect, createServer } from 'node:tls';
import { checkRequest } from '@millrace/contract';
import { openDice } from './dice.ts';
import { type MadeCall, makeStockCount, openCallMaker } from './make-calls.ts';
import { selfSigned } from './self-signed.ts';

const AT = new Date('2030-01-01T10:00:00.000Z');

function makeMany(seed: number, amount: number): MadeCall[] {
  const makeCall = openCallMaker(seed);
  return Array.from({ length: amount }, () => makeCall(AT));
}

/** Without the ids, which are new each time. */
function words(calls: readonly MadeCall[]): object[] {
  return calls.map(({ source, call }) => ({ source, call: { ...call, messageId: undefined } }));
}

suite('the calls of the made-up shop', () => {
  test('are the same for the same seed, and others for another', () => {
    assert.deepEqual(words(makeMany(3, 200)), words(makeMany(3, 200)));
    assert.notDeepEqual(words(makeMany(3, 200)), words(makeMany(4, 200)));
  });

  test('are accepted by the contract, apart from the times of one release of the mobile app', () => {
    const calls = [...makeMany(5, 1_000), ...makeStockCount(openDice(1), AT, 20)];
    const check = checkRequest({ batch: calls.map(({ call }) => call) }, 'batch', 0);
    assert.ok(check.ok);
    const codes = new Set(check.refused.map(({ code }) => code));
    assert.deepEqual(codes, new Set(['timestamp_invalid']));
    assert.equal(check.refused.length, 30);
    for (const { index } of check.refused) assert.equal(calls[index]?.source, 'Mobile app');
  });
});

suite('the certificate of the backup', () => {
  test('is one that TLS can read, and that no client trusts', async () => {
    const server = createServer(selfSigned('erp-backup.fernhill.example', Date.now()));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    const client = connect({ port: address.port, host: '127.0.0.1', servername: 'erp-backup.fernhill.example' });
    await assert.rejects(once(client, 'secureConnect'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    server.close();
  });
});
