/** `millrace listen` in place of a server: published client libraries send to it as they are, and lose nothing when it fails. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { suite, test } from 'node:test';
import { driver, gotten, runClient } from './run-client.ts';
import { story } from './story.ts';

const MAIN = join(import.meta.dirname, '../../cli/src/main.ts');

type Line = { kind: string; type?: string; url?: string; isRepeat?: true };

async function startListen(...args: string[]) {
  const child = spawn(process.execPath, [MAIN, 'listen', '--port', '0', '--json', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: Line[] = [];
  const reading = createInterface({ input: child.stdout });
  reading.on('line', (line) => lines.push(JSON.parse(line) as Line));
  await once(reading, 'line');
  return {
    url: lines[0]?.url ?? '',
    /** Ends it, and answers with everything that it printed. */
    async end(): Promise<Line[]> {
      child.kill('SIGTERM');
      const [code] = (await once(child, 'close')) as [number | null];
      assert.equal(code, 0);
      return lines;
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

const CLIENTS: Record<string, (url: string) => Promise<void>> = {
  '@segment/analytics-node': (url) => runClient(process.execPath, [driver('segment-node/send-calls.ts'), url, 'dev']),
  '@millrace/node': (url) =>
    runClient(process.execPath, [driver('millrace-node/send-calls.ts'), gotten('millrace-node'), url, 'dev']),
};

suite('millrace listen', () => {
  for (const [name, send] of Object.entries(CLIENTS)) {
    test(`shows every call of ${name}`, async () => {
      using listening = await startListen();
      await send(listening.url);
      const calls = (await listening.end()).filter(({ kind }) => kind === 'call');
      assert.deepEqual(calls.map(({ type }) => String(type)).toSorted(), Object.keys(story).toSorted());
    });

    test(`gets every call of ${name} although a third of the requests fails`, async () => {
      using listening = await startListen('--fail', '503:20%', '--fail', 'reset:10%');
      for (let told = 0; told < 3; told += 1) await send(listening.url);
      const lines = await listening.end();
      const calls = lines.filter(({ kind, isRepeat }) => kind === 'call' && isRepeat !== true);
      assert.equal(calls.length, 3 * Object.keys(story).length);
    });
  }
});
