import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLogLines } from '../../../testing/log-lines.ts';
import { ensureTickets, type StrandedNeeds } from './find-stranded.ts';

function ticketsOf(held: string[], overdue: number) {
  const made: string[] = [];
  const tickets: StrandedNeeds['tickets'] = {
    ensure: async (id) => (made.push(id), 'made' as const),
    list: async () => new Set(held),
    revive: async () => overdue,
  };
  return { made, tickets };
}

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
