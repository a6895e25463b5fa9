/* oxlint-disable no-control-regex -- the sequences that a terminal acts on are what is tested */
/** The full-screen view in a real pseudo-terminal, looked at through a terminal emulator. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openReceiver } from '../../../server/testing/receiver.ts';
import { until } from '../../../server/testing/until.ts';
import { openInTerminal, type TerminalProgram } from '../../testing/terminal.ts';

const KEYS = { up: '\x1b[A', down: '\x1b[B', end: '\x1b[F', escape: '\x1b', interrupt: '\x03' };

async function openListen(args: string[] = [], env: Record<string, string> = {}) {
  const terminal = await openInTerminal(['listen', '--port', '0', ...args], { env });
  await terminal.shows('Nothing has arrived yet.');
  await terminal.shows(/http:\/\/127\.0\.0\.1:\d+/);
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(terminal.text())?.[0] ?? '';
  const send = async (...calls: object[]) => {
    const headers = { Authorization: `Basic ${Buffer.from('dev:').toString('base64')}` };
    await fetch(`${url}/v1/batch`, { method: 'POST', headers, body: JSON.stringify({ batch: calls }) });
  };
  return { ...terminal, send, [Symbol.asyncDispose]: () => terminal[Symbol.asyncDispose]() };
}

const track = (event: string, more: object = {}) => ({ type: 'track', event, userId: 'u1', ...more });
const selected = ({ lines }: TerminalProgram) => lines().find((line) => line.startsWith('›')) ?? '';

async function leaves(terminal: TerminalProgram, code: number): Promise<void> {
  assert.equal(await terminal.ended, code);
  await until(() => terminal.buffer() === 'normal', 60_000);
  assert.match(terminal.raw(), /\x1b\[\?7h\x1b\[\?25h\x1b\[0m\x1b\[\?1049l/, 'wrap, cursor and screen are given back');
}

suite('the view in a terminal', () => {
  test('lists, selects, shows details, forwards again, filters, pauses and copies', async () => {
    await using receiver = await openReceiver();
    await using terminal = await openListen(['--forward', receiver.url, '--secret', 'dev-secret']);
    await terminal.send(track('First', { properties: { revenue: 12.5 } }), track('Second'), {
      type: 'track',
      userId: 'u9',
    });
    await terminal.shows(/First .*200 in \d+ ms/);
    await terminal.shows(/\(no event name\).*REJECTED/);
    terminal.press(KEYS.up.repeat(2));
    await until(() => selected(terminal).includes('First'), 60_000);
    terminal.press('d');
    await terminal.shows('webhook-signature: v1,');
    assert.match(terminal.text(), /Answer\n {4}200 in/);
    terminal.press('r');
    await terminal.shows(/Sent again: 200 in \d+ ms \(attempt 2\)/);
    terminal.press(KEYS.end);
    await terminal.shows("curl -i -X POST 'http://127.0.0.1");
    terminal.press('c');
    await until(() => terminal.raw().includes('\x1b]52;c;'), 60_000);
    const copied = Buffer.from(/\x1b\]52;c;([^\x07]+)\x07/.exec(terminal.raw())?.[1] ?? '', 'base64').toString();
    assert.match(copied, /^curl -i -X POST 'http:.*X-Signature: [0-9a-f]{40}.*--data-binary '\{.*"event":"First"/);
    terminal.press(KEYS.escape);
    await terminal.shows('[d] details');
    terminal.press('/sec\r');
    await terminal.shows(/filter sec/);
    await until(() => !terminal.text().includes('First'), 60_000);
    terminal.press(KEYS.escape);
    await terminal.shows('First');
    terminal.press('p');
    await terminal.shows('PAUSED');
    await terminal.send(track('Unseen'));
    await terminal.shows('PAUSED, 1 new');
    assert.ok(!terminal.text().includes('Unseen'));
    terminal.press('p');
    await terminal.shows('Unseen');
    assert.equal(receiver.received.length, 4);
    terminal.press('q');
    await leaves(terminal, 0);
  });

  test('makes hostile texts harmless, keeps columns straight, and fits a window that changes', async () => {
    await using terminal = await openListen();
    await terminal.send(
      track('\u001b[2J\u001b[1;1Hgone'),
      track('日本語のイベント'),
      track('evil\u202egnp', { userId: 'מאיה' }),
      track('🎉 done'),
    );
    await terminal.shows('🎉 done');
    const rows = terminal.lines().filter((line) => /\d\d:\d\d:\d\d\.\d{3}/.test(line));
    assert.equal(rows.length, 4);
    assert.match(terminal.text(), /\\u001b\[2J/);
    assert.match(terminal.text(), /evil\\u202egnp/);
    assert.match(terminal.text(), /^ millrace listen/);
    for (const size of [
      { columns: 50, rows: 12 },
      { columns: 140, rows: 40 },
      { columns: 15, rows: 2 },
    ]) {
      terminal.resize(size);
      const isRule = (line: string) => /^─+ 4 entries ──$/.test(line) && line.length === size.columns;
      if (size.rows === 2) await terminal.shows('The window');
      else await until(() => terminal.lines().some(isRule), 60_000, terminal.text);
    }
    terminal.press('q');
    await leaves(terminal, 0);
  });

  test('gives the terminal back on Ctrl-C, SIGTERM, SIGINT, SIGHUP and a crash', async () => {
    const crash = `--import=data:text/javascript,process.on('SIGUSR2',()=>{throw(new(Error)('planted'))})`;
    const ends: [(terminal: TerminalProgram) => void, number][] = [
      [({ press }) => press(KEYS.interrupt), 130],
      [({ pid }) => process.kill(pid(), 'SIGTERM'), 0],
      [({ pid }) => process.kill(pid(), 'SIGINT'), 130],
      [({ pid }) => process.kill(pid(), 'SIGHUP'), 0],
    ];
    for (const [end, code] of ends) {
      await using terminal = await openListen();
      end(terminal);
      await leaves(terminal, code);
    }
    await using terminal = await openListen([], { NODE_OPTIONS: crash });
    process.kill(terminal.pid(), 'SIGUSR2');
    await leaves(terminal, 1);
    assert.match(terminal.text(), /planted/, 'the stack stands on the screen that is left');
  });

  test('uses no colour with NO_COLOR, and no screen with --no-view or TERM=dumb', async () => {
    await using plain = await openListen([], { NO_COLOR: '1' });
    await plain.send(track('Plain'));
    await plain.shows('Plain');
    assert.doesNotMatch(plain.raw(), /\x1b\[(?:3[0-9]|2|1)m/);
    for (const [args, env] of [
      [['--no-view'], {}],
      [[], { TERM: 'dumb' }],
    ] as const) {
      await using terminal = await openInTerminal(['listen', '--port', '0', ...args], { env });
      await terminal.shows('write key: any');
      assert.ok(!terminal.raw().includes('\x1b[?1049h'));
      terminal.press(KEYS.interrupt);
      assert.equal(await terminal.ended, 130);
    }
  });
});
