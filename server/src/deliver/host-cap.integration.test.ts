/** 100 destinations of 100 workspaces that point at one host. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openBed } from '../../testing/deliver-bed.ts';
import { openReceiver } from '../../testing/receiver.ts';
import { track } from '../../testing/samples.ts';
import { until } from '../../testing/until.ts';

const WORKSPACES = 100;
const PATIENCE_MS = 120_000;
const PER_SECOND = { attempts: undefined, perSecond: 100 };
const WORKSPACE_PATHS = Array.from({ length: WORKSPACES }, (_, index) => `/hook/${index}`);
/** A lane that a busy machine looks at late misses a turn or two of a round. One that gets less does so in each round. */
const ROUNDS = 3;
const TURNS = 12;

suite('one host behind 100 destinations of 100 workspaces', () => {
  test('gets no more attempts at a time than its cap, and every delivery arrives once', {
    timeout: PATIENCE_MS,
  }, async () => {
    await using bed = await openBed();
    let open = 0;
    let most = 0;
    await using receiver = await openReceiver((_, response) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        response.writeHead(200).end();
      }, 20);
    });
    await putDestinations(bed, receiver.url);
    await using _ = await bed.deliver({ hostCap: { attempts: 6, perSecond: undefined } });
    await bed.append(track('one'), track('two'), track('three'));
    await until(() => receiver.received.length >= WORKSPACES * 3, PATIENCE_MS);
    await until(async () => (await bed.unsettled()) === 0 && (await bed.tickets()).length === 0, PATIENCE_MS);
    assert.ok(most <= 6, `${most} at a time`);
    assert.equal(receiver.received.length, WORKSPACES * 3, 'each delivery once');
    assert.deepEqual(await bed.deadLetters(), []);
  });

  test('gets no more attempts a second than its cap from two processes together', {
    timeout: PATIENCE_MS,
  }, async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver();
    await putDestinations(bed, receiver.url);
    await using one = await bed.deliver({ hostCap: PER_SECOND });
    await using two = await bed.deliver({ hostCap: PER_SECOND });
    await until(() => one.peers() === 2 && two.peers() === 2, PATIENCE_MS);
    const from = Date.now();
    await bed.append(...Array.from({ length: 4 }, (_, index) => track(`e${index}`)));
    await until(() => receiver.received.length >= WORKSPACES * 4, PATIENCE_MS);
    // A busy machine delays arrivals and never hastens them: deliver sent each of them earlier still.
    for (const [index, { at }] of receiver.received.entries()) {
      const most = PER_SECOND.perSecond * ((at - from) / 1_000 + 0.2);
      assert.ok(index + 1 <= most, `${index + 1} within ${at - from} ms`);
    }
  });

  test('gives each workspace its share', { timeout: PATIENCE_MS * 2 }, async (t) => {
    await using bed = await openBed();
    await using receiver = await openReceiver();
    await putDestinations(bed, receiver.url);
    await using deliver = await bed.deliver({ hostCap: PER_SECOND });
    const each = (ROUNDS + 1) * TURNS;
    await bed.append(...Array.from({ length: each }, (_, index) => track(`e${index}`)));
    await until(() => deliver.stats().hostsAtCap === 1, PATIENCE_MS);
    // By then all lanes are looked at.
    const first = WORKSPACES * 4;
    let ratio = Infinity;
    for (let round = 0; round < ROUNDS && ratio >= 1.5; round += 1) {
      const [from, to] = [round, round + 1].map((turns) => first + turns * TURNS * WORKSPACES);
      await until(() => receiver.received.length >= (to ?? 0), PATIENCE_MS);
      // Those whose lanes a busy machine opened first are ahead; in the end deliver gives their turns to the others.
      const waiting = WORKSPACE_PATHS.filter((path) => countOf(receiver.received.slice(0, to), path) < each);
      const counts = waiting.map((path) => countOf(receiver.received.slice(from, to), path));
      ratio = Math.max(...counts) / Math.min(...counts);
      t.diagnostic(`${Math.max(...counts)} for one workspace, ${Math.min(...counts)} for another`);
    }
    assert.ok(ratio < 1.5, `${ratio} in the last of ${ROUNDS} rounds`);
  });
});

function countOf(received: readonly { path: string }[], path: string): number {
  return received.filter((each) => each.path === path).length;
}

async function putDestinations(bed: Awaited<ReturnType<typeof openBed>>, url: string): Promise<void> {
  for (let index = 0; index < WORKSPACES; index += 1) {
    const settings = { targets: [{ url: `${url}/${index}` }] };
    await bed.putDestination({ id: `dst_${index}`, workspaceId: `ws_${index}`, settings });
  }
}
