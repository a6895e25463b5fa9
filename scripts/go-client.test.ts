/** Go's own tools check and test clients/go; their verdict counts in the one runner. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite, test } from 'node:test';
import { ROOT_DIR } from './project-files.ts';
import { runProgram, type Running } from './run-program.ts';

const CLIENT_DIR = join(ROOT_DIR, 'clients/go');
const EXAMPLE_DIR = join(ROOT_DIR, 'examples/go-client');
const STATICCHECK = 'honnef.co/go/tools/cmd/staticcheck@v0.7.0';

// Two at a time: each waits for a compiler of its own for a while.
suite('the Go client', { concurrency: 2 }, () => {
  test('is formatted', async () => {
    assert.equal(await run('gofmt', ['-l', '.']), '');
  });

  for (const dir of ['clients/go', 'clients/go/bench', 'e2e/clients/millrace-go', 'examples/go-client']) {
    test(`${dir}: go vet has no complaint`, async () => {
      await run('go', ['vet', './...'], { cwd: join(ROOT_DIR, dir) });
    });
  }

  test('staticcheck has no complaint', async () => {
    await run('go', ['run', STATICCHECK, './...'], { env: { GOGC: '400' } });
  });

  test('uses the standard library only', async () => {
    assert.equal(await run('go', ['list', '-m', 'all']), 'github.com/millrace/millrace/clients/go\n');
  });

  test('all its tests pass under the race detector, the contract and the wire cases among them', async () => {
    // The compiler has memory enough to leave its garbage alone; the tests collect theirs as usual.
    const args = ['test', '-race', '-exec=env -u GOGC', '-count=1', './...'];
    await run('go', args, { env: { CGO_ENABLED: '1', GOGC: 'off' } });
  });

  test('the example that imports history sends a call for each line', async () => {
    const bodies = await receivedDuring((url) =>
      run('go', ['run', './import', url], { cwd: EXAMPLE_DIR, input: 'A-1 2020-01-01\nA-2 2020-1-2\n' }),
    );
    assert.match(bodies.join(''), /"order-A-1","timestamp":"2020-01-01T.*"order-A-2","timestamp":"2020-01-02T/);
  });

  test('what it writes is what JavaScript writes for the same data', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'millrace-go-'));
    try {
      const file = join(dir, 'lines');
      const args = ['test', '-count=1', '-run=^TestWhatIsWrittenIsReadAsWhatWasGiven$', '.'];
      await run('go', args, { env: { MILLRACE_WRITE_LINES: file } });
      const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
      assert.ok(lines.length >= 5_000);
      for (const line of lines) assert.equal(JSON.stringify(JSON.parse(line)), line);
    } finally {
      await rm(dir, { recursive: true });
    }
  });
});

/** Takes every request and keeps its body; the address is given to what runs meanwhile. */
async function receivedDuring(running: (url: string) => Promise<unknown>): Promise<string[]> {
  const bodies: string[] = [];
  const server = createServer((incoming, outgoing) => {
    void text(incoming).then((body) => {
      bodies.push(body);
      outgoing.end('{"success":true}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  await running(`http://127.0.0.1:${address.port}`);
  server.closeAllConnections();
  server.close();
  return bodies;
}

function run(program: string, args: string[], running: Partial<Running> = {}): Promise<string> {
  return runProgram(program, args, { cwd: CLIENT_DIR, ...running });
}
