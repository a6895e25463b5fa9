import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { readConfig } from './config.ts';

const MILLRACE_KEYS = `1:${Buffer.alloc(32).toString('base64')}`;
const CELLS = { eu: { url: 'nats://user:secret@eu:4222,nats://eu-2:4222', spare: 'main' }, main: { spare: 'eu' } };

suite('the cells of the settings', () => {
  test('are main alone with nothing set', () => {
    const read = readConfig({ MILLRACE_KEYS, MILLRACE_NATS_URL: 'nats://here:4222' });
    assert.ok(read.ok);
    assert.equal(read.value.cell, 'main');
    assert.deepEqual(read.value.cells, [{ name: 'main', url: 'nats://here:4222' }]);
  });

  test('have main first, with the URL of NATS, and are shown without passwords', () => {
    const env = { MILLRACE_KEYS, MILLRACE_NATS_URL: 'nats://here:4222', MILLRACE_CELLS: JSON.stringify(CELLS) };
    const read = readConfig({ ...env, MILLRACE_ROLES: 'collect,deliver', MILLRACE_CELL: 'eu' });
    assert.ok(read.ok);
    assert.equal(read.value.cell, 'eu');
    assert.deepEqual(read.value.cells, [
      { name: 'main', url: 'nats://here:4222', spare: 'eu' },
      { name: 'eu', ...CELLS.eu },
    ]);
    const shown = read.value.shown.find(({ name }) => name === 'MILLRACE_CELLS')?.value ?? '';
    assert.match(shown, /"spare":"main"/);
    assert.doesNotMatch(shown, /secret/);
  });

  test('have the user of MILLRACE_NATS_URL where their URL names none', () => {
    const MILLRACE_CELLS = JSON.stringify({ eu: { url: 'tls://a:4222, b:4222' }, us: { url: 'nats://x:y@c' } });
    const read = readConfig({ MILLRACE_KEYS, MILLRACE_NATS_URL: 'nats://me:pw@m1,nats://me:pw@m2', MILLRACE_CELLS });
    assert.ok(read.ok);
    assert.deepEqual(
      read.value.cells.map(({ url }) => url),
      ['nats://me:pw@m1,nats://me:pw@m2', 'tls://me:pw@a:4222,nats://me:pw@b:4222', 'nats://x:y@c'],
    );
  });

  test('are refused with a reason, and without a secret', () => {
    const problemsOf = (cells: unknown, more = {}) => {
      const text = typeof cells === 'string' ? cells : JSON.stringify(cells);
      const read = readConfig({ MILLRACE_KEYS, MILLRACE_CELLS: text, ...more });
      assert.ok(!read.ok, text);
      assert.doesNotMatch(read.problems.join(' '), /secret/);
      return read.problems.join('\n');
    };
    assert.match(problemsOf('{secret'), /^MILLRACE_CELLS must be JSON/);
    assert.match(problemsOf([]), /must be JSON/);
    assert.match(problemsOf({ eu: 'nats://user:secret@eu' }), /must be JSON/);
    assert.match(problemsOf({ eu: { url: 'https://user:secret@eu' } }), /eu has no such url/);
    assert.match(problemsOf({ EU: { url: 'nats://eu' } }), /has a name that is not/);
    assert.match(problemsOf({ main: { url: 'nats://eu' } }), /gives main a url/);
    assert.match(problemsOf({ eu: { url: 'nats://eu', spare: 'eu' } }), /a spare that is no other cell/);
    assert.match(problemsOf({ eu: { url: 'nats://eu', spare: 'us' } }), /a spare that is no other cell/);
    const twins = { 'cell-8': { url: 'nats://a' }, 'cell-31': { url: 'nats://b' } };
    assert.match(problemsOf(twins), /names cell-8 and cell-31, which get the same number/);
    assert.match(problemsOf(CELLS, { MILLRACE_CELL: 'us' }), /MILLRACE_CELL must be main or a cell/);
    assert.match(
      problemsOf(CELLS, { MILLRACE_CELL: 'eu' }),
      /MILLRACE_CELL must be main in a process that plays control/,
    );
  });
});
