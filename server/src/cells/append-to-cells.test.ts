import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openMetrics } from '../metrics/open-metrics.ts';
import type { Appended, RequestToAppend } from '../stream/events/append-request.ts';
import { openCellAppender, type ReachableCell } from './append-to-cells.ts';

const REQUEST: RequestToAppend = { sourceId: 'src_1', id: 'r1', home: 0, envelope: '{}', body: new Uint8Array() };
const STORED: Appended = { ok: true, stream: 'EVENTS-0', sequence: 1, duplicate: false };
const AWAY: Appended = { ok: false, why: 'no NATS server can be reached' };

/** Cells that answer like this, and the names of those that were asked. */
function openCells(answers: Record<string, Appended | undefined>) {
  const asked: string[] = [];
  const cells = Object.entries(answers).map(([name, answer]): ReachableCell => {
    const append = () => {
      asked.push(name);
      return Promise.resolve(answer ?? AWAY);
    };
    return { name, stream: () => answer && { append, isAvailable: () => answer.ok } };
  });
  const metrics = openMetrics();
  return { ...openCellAppender(cells, metrics), asked, metrics };
}

suite('a request', () => {
  test('goes to main, or to the cell of its source, and to no other', async () => {
    const { append, asked } = openCells({ main: STORED, eu: STORED });
    assert.equal(await append(REQUEST), STORED);
    assert.equal(await append({ ...REQUEST, cell: 'eu', spare: 'main' }), STORED);
    assert.deepEqual(asked, ['main', 'eu']);
  });

  test('goes to the spare if its cell does not take it, and that is counted', async () => {
    const { append, asked, metrics } = openCells({ main: AWAY, eu: STORED });
    assert.equal(await append({ ...REQUEST, spare: 'eu' }), STORED);
    assert.deepEqual(asked, ['main', 'eu']);
    const text = await metrics.text();
    assert.match(text, /millrace_cell_failovers_total\{cell="main"\} 1/);
    assert.match(text, /millrace_cell_available\{cell="main"\} 0/);
    assert.match(text, /millrace_cell_available\{cell="eu"\} 1/);
  });

  test('is refused with every reason if neither takes it', async () => {
    const { append, isAvailable } = openCells({ main: AWAY, eu: undefined });
    assert.deepEqual(await append({ ...REQUEST, spare: 'eu' }), {
      ok: false,
      why: 'main: no NATS server can be reached; its spare eu: the cell eu could not be reached since the start of this process',
    });
    assert.deepEqual(await append(REQUEST), AWAY);
    assert.equal(isAvailable(), false);
  });

  test('is refused, and sent again by its client, while its place is not known', async () => {
    const { append, asked } = openCells({ main: STORED });
    const appended = await append({ ...REQUEST, cell: '?' });
    assert.ok(!appended.ok && appended.why.includes('behind'));
    assert.deepEqual(asked, []);
  });

  test('is never stored elsewhere if this process does not know its cell', async () => {
    const { append, asked } = openCells({ main: STORED });
    const appended = await append({ ...REQUEST, cell: 'eu' });
    assert.ok(!appended.ok && appended.why.includes('MILLRACE_CELLS'));
    assert.deepEqual(asked, []);
  });
});
