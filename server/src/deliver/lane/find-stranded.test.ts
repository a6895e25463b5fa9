import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openLog } from '../../log.ts';
import { findStranded } from './find-stranded.ts';

const log = openLog({ level: 'silent', pretty: false });

suite('the search for lanes without a ticket', () => {
  test('is of one process, every ten minutes, and the next one to have the turn looks at once', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const clock = { uptimeMs: 0 };
    const turn = { isMine: false };
    let looks = 0;
    const lanes = { list: async () => ((looks += 1), new Set<string>()) };
    const tickets = { list: async () => new Set<string>(), ensure: async () => 'made' };
    const uptimeMs = () => clock.uptimeMs;
    using _ = findStranded({
      ...({ lanes, tickets } as unknown as Pick<Parameters<typeof findStranded>[0], 'lanes' | 'tickets'>),
      isMyTurn: () => turn.isMine,
      uptimeMs,
      now: uptimeMs,
      log,
    });
    const pass = (ms: number) => {
      clock.uptimeMs += ms;
      t.mock.timers.tick(ms);
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
});
