import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { openDataFolder } from './data-folder.ts';
import { readState, writeState } from './dev-state.ts';
import { startOf } from './processes.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'millrace-folder-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const put = (name: string, text: string) => writeFileSync(join(dir, name), text);
const text = (name: string) => readFileSync(join(dir, name), 'utf8');
const open = (wipe = false) => openDataFolder(dir, { wipe });

async function use(): Promise<void> {
  using _ = await open();
  writeState(dir, readState(dir, undefined, 'pglite'));
}

suite('a folder of somebody else', () => {
  const FOREIGN: Record<string, string>[] = [
    { 'cat.jpg': 'meow' },
    { 'dev.json': '{"port": 3000}' },
    { 'dev.json': '{"version": "1.0.0", "database": "postgresql"}' },
    { 'holder.json': '{"name": "mine"}' },
    { 'nats.log': 'lines' },
  ];
  for (const files of FOREIGN) {
    test(`stays as it is: ${JSON.stringify(files)}`, async () => {
      for (const [name, value] of Object.entries(files)) put(name, value);
      await assert.rejects(open(), /holds other files, so Millrace leaves it alone/);
      await assert.rejects(open(true), /holds other files, so --wipe leaves it alone/);
      assert.deepEqual(Object.fromEntries(readdirSync(dir).map((name) => [name, text(name)])), files);
    });
  }
});

suite('a folder of millrace dev', () => {
  test('--wipe removes what Millrace made, and nothing else', async () => {
    await use();
    for (const name of ['nats', 'postgresql.making', 'programs-18.1.0', 'photos', 'nats-notes'])
      mkdirSync(join(dir, name));
    for (const name of ['server.log', 'other.log', 'initdb-password', 'programs-list.txt', '.env']) put(name, 'x');
    using _ = await open(true);
    assert.deepEqual(readdirSync(dir).toSorted(), [
      '.env',
      'holder.json',
      'nats-notes',
      'other.log',
      'photos',
      'programs-list.txt',
    ]);
  });

  test('is still known when its state is damaged', async () => {
    await use();
    put('dev.json', text('dev.json').slice(0, 40));
    {
      using _ = await open();
      assert.throws(() => readState(dir, undefined, 'pglite'), /it is not JSON/);
    }
    using _ = await open(true);
    assert.ok(!existsSync(join(dir, 'dev.json')));
  });
});

suite('the lock of a folder', () => {
  const mine = () => ({ pid: process.pid, startedAt: startOf(process.pid) ?? '' });
  const stale = () => put('holder.json', JSON.stringify({ pid: process.pid, startedAt: 'long ago', engines: [] }));
  const wins = async () => {
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => open()));
    const won = results.filter((result) => result.status === 'fulfilled');
    for (const result of results)
      if (result.status === 'rejected') assert.match(String(result.reason), /Another `millrace dev`/);
    for (const { value } of won) value[Symbol.dispose]();
    return won.length;
  };

  test('of several that open it at once, one wins', async () => {
    assert.equal(await wins(), 1);
    stale();
    assert.equal(await wins(), 1);
    put('holder.json', '');
    assert.equal(await wins(), 1);
    assert.deepEqual(readdirSync(dir), []);
  });

  test('a holder removes only its own file', async () => {
    const other = JSON.stringify({ pid: process.ppid, startedAt: 'x', engines: [] });
    {
      using folder = await open();
      folder.note({ ...mine(), name: 'NATS', stopSignal: 'SIGTERM' });
      assert.match(text('holder.json'), /"name":"NATS"/);
      put('holder.json', other);
    }
    assert.equal(text('holder.json'), other);
  });
});
