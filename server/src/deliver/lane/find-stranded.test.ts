import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openLog } from '../../log.ts';
import { openLogLines } from '../../../testing/log-lines.ts';
import { mockBeats } from '../../../testing/mock-beats.ts';
import { ensureTickets, findStranded, type StrandedNeeds } from './find-stranded.ts';

const silent = openLog({ level: 'silent', pretty: false });

function ticketsOf(held: string[], overdue: number) {
  const made: string[] = [];
  const tickets: StrandedNeeds['tickets'] = {
    ensure: async (id) => (made.push(id), 'made' as const),
    list: async () => new Set(held),
    revive: async () => overdue,
  };
  return { made, tickets };
}

suite('the search for lanes without a ticket', () => {
  test('is of one process, every ten minutes, and the next one to have the turn looks at once', (t) => {
    const time = mockBeats(t);
    const clock = { uptimeMs: 0 };
    const turn = { isMine: false };
    let looks = 0;
    const lanes = { list: async () => ((looks += 1), new Set<string>()) };
    const { tickets } = ticketsOf([], 0);
    const uptimeMs = () => clock.uptimeMs;
    using _ = findStranded({
      lanes,
      tickets,
      isMyTurn: () => turn.isMine,
      uptimeMs,
      now: uptimeMs,
      log: silent,
    });
    const pass = (ms: number) => {
      clock.uptimeMs += ms;
      time.pass(ms);
    };
    pass(3_595_000);
    assert.equal(looks, 0, 'another process has the turn');
    turn.isMine = true;
    pass(5_000);
    assert.equal(looks, 1);
    pass(595_000);
    assert.equal(looks, 1);
    pass(5_000);
    assert.equal(looks, 2);
    turn.isMine = false;
    pass(5_000);
    turn.isMine = true;
    pass(5_000);
    assert.equal(looks, 3);
    turn.isMine = false;
    pass(3_600_000);
    assert.equal(looks, 4, 'the process that has the turn may do nothing');
  });

  test('is made again soon after one that failed', async (t) => {
    const time = mockBeats(t);
    const clock = { uptimeMs: 0 };
    let looks = 0;
    const lanes = {
      list: () => (
        (looks += 1), looks === 1 ? Promise.reject(new Error('timeout')) : Promise.resolve(new Set<string>())
      ),
    };
    const uptimeMs = () => clock.uptimeMs;
    const needs = { lanes, tickets: ticketsOf([], 0).tickets, uptimeMs, now: uptimeMs, log: silent };
    using _ = findStranded({ ...needs, isMyTurn: () => true });
    const pass = async (ms: number) => {
      clock.uptimeMs += ms;
      time.pass(ms);
      await Promise.resolve();
    };
    await pass(5_000);
    assert.equal(looks, 1);
    await pass(25_000);
    assert.equal(looks, 1);
    await pass(5_000);
    assert.equal(looks, 2);
    await pass(35_000);
    assert.equal(looks, 2, 'the second one did not fail');
  });
});

test('a lane without a ticket gets one, tickets that NATS did not fire are fired, and the log tells of both', async () => {
  const { log, lines } = openLogLines();
  const lanes = { list: async () => new Set(['dst_a', 'dst_b']) };
  const { made, tickets } = ticketsOf(['dst_a'], 3);
  await ensureTickets({ lanes, tickets, now: () => 0, log });
  assert.deepEqual(made, ['dst_b']);
  assert.deepEqual(
    lines.map(({ msg, destinationId, tickets: count }) => [msg, destinationId ?? count]),
    [
      ['lane.stranded', 'dst_b'],
      ['tickets.overdue', 3],
    ],
  );
});

test('the log has nothing where every lane has its ticket and none is overdue', async () => {
  const { log, lines } = openLogLines();
  const lanes = { list: async () => new Set(['dst_a']) };
  await ensureTickets({ lanes, tickets: ticketsOf(['dst_a'], 0).tickets, now: () => 0, log });
  assert.deepEqual(lines, []);
});
