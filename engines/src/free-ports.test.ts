import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { freePorts } from './free-ports.ts';

suite('free ports', () => {
  test('differ between calls, and none is one that the system gives to others', async () => {
    const ports = (await Promise.all([freePorts(10), freePorts(10)])).flat();
    assert.equal(new Set(ports).size, 20);
    assert.ok(ports.every((port) => port >= 1_024 && port < 32_768));
  });

  test('stay with the process that was given them, also while nothing listens there', async () => {
    const mine = await freePorts(3);
    const program = `
      import { claimPort } from ${JSON.stringify(join(import.meta.dirname, 'free-ports.ts'))};
      console.log(JSON.stringify([${mine.join()}].map(claimPort)));`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
    assert.deepEqual(JSON.parse(stdout), [false, false, false]);
  });

  test('leave out one that is taken', async () => {
    const [port = 0] = await freePorts(1);
    await using server = createServer().listen(port + 1, '127.0.0.1');
    // When another process has it already, it is taken as well.
    await once(server, 'listening').catch(() => undefined);
    assert.ok(!(await freePorts(3)).includes(port + 1));
  });
});
