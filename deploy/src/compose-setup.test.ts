/** Several runs of `setup` in one folder, and what the compose files make of its choices. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { suite, test } from 'node:test';
import { runSetup } from './compose-project.ts';
import { copyOfDeploy } from './tools.ts';

const DOMAINS = ['--collect-domain', 'events.example.com', '--console-domain', 'console.example.com'];

suite('a second setup', () => {
  for (const mode of [[], ['--ha']]) {
    test(`with names opens the proxy to the world ${mode.join('')}`, () => {
      using copy = copyOfDeploy();
      setUp(copy.path, mode);
      assert.equal(choices(copy.path)['PROXY_PUBLISH'], '127.0.0.1');
      setUp(copy.path, [...mode, ...DOMAINS]);
      assert.equal(choices(copy.path)['PROXY_PUBLISH'], '0.0.0.0');
      setUp(copy.path, mode);
      assert.equal(choices(copy.path)['PROXY_PUBLISH'], '0.0.0.0');
    });
  }

  test('keeps an address of the proxy that the operator chose', () => {
    for (const address of ['10.0.0.5', '127.0.0.1']) {
      using copy = copyOfDeploy();
      setUp(copy.path, DOMAINS);
      const file = join(copy.path, 'compose/.env');
      writeFileSync(file, readFileSync(file, 'utf8').replace('PROXY_PUBLISH=0.0.0.0', `PROXY_PUBLISH=${address}`));
      setUp(copy.path, DOMAINS);
      assert.equal(choices(copy.path)['PROXY_PUBLISH'], address);
    }
  });
});

function setUp(path: string, args: string[]): void {
  const done = runSetup(path, args);
  assert.equal(done.status, 0, done.stderr);
}

function choices(path: string): NodeJS.Dict<string> {
  return parseEnv(readFileSync(join(path, 'compose/.env'), 'utf8'));
}
