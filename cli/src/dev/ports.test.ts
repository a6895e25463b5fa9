import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { choosePort } from './ports.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);

for (const host of hasIpv6 ? ['127.0.0.1', '::1'] : ['127.0.0.1']) {
  test(`a port that another program has on ${host} is taken, and free after it`, async () => {
    const server = createServer().listen(0, host);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await assert.rejects(choosePort('--collect-port', port, 0), /is taken by another program/);
    assert.notEqual(await choosePort('--collect-port', undefined, port), port);
    server.close();
    await once(server, 'close');
    assert.equal(await choosePort('--collect-port', port, 0), port);
  });
}
