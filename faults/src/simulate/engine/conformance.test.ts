import '../clock/virtual-globals.ts';
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openVirtualClock, running } from '../clock/virtual-clock.ts';
import { STREAMS } from '../world.ts';
import { FACTS } from './conformance.ts';
import { openClient } from './fact-client.ts';
import { connectModel } from './model-connection.ts';
import { openModelEngine } from './model-engine.ts';

const STARTS_AT = Date.UTC(2026, 0, 1);
const LONGEST_MS = 120_000;

suite('the model shares the facts of the engine:', () => {
  for (const { name, holds } of FACTS) {
    test(name, async () => {
      const clock = openVirtualClock({ startsAt: STARTS_AT, failed: (_, error) => assert.fail(String(error)) });
      const engine = openModelEngine({ clock, seed: 1, settings: STREAMS });
      const process = clock.start('client', () => 0.5);
      let isOver = false;
      const held = running.run(process, async () => {
        const client = await openClient(connectModel(engine, process, 1));
        await holds(client).finally(() => (isOver = true));
      });
      held.catch(() => undefined);
      await clock.runUntil(LONGEST_MS, () => isOver);
      assert.ok(isOver, `it does not come within ${LONGEST_MS} simulated milliseconds`);
      await held;
    });
  }
});
