import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { levelStreams, placeNext, type ServerStore, usableBytes } from './level-streams.ts';

const servers = (...sizes: number[]): ServerStore[] => sizes.map((bytes, index) => ({ name: `n${index + 1}`, bytes }));

suite('what servers can store together', () => {
  test('is the sum, divided by the replicas, when they are equal', () => {
    assert.equal(usableBytes(servers(100, 100, 100), 3), 100);
    assert.equal(usableBytes(servers(100, 100, 100, 100), 3), 133);
    assert.equal(usableBytes(servers(100, 100, 100, 100, 100, 100), 3), 200);
    assert.equal(usableBytes(servers(100, 50), 1), 150);
  });

  test('counts a large server only as far as the others can hold the other replicas', () => {
    assert.equal(usableBytes(servers(1_000, 100, 100, 100), 3), 150);
    assert.equal(usableBytes(servers(1_000, 1_000, 100, 100), 3), 200);
    assert.equal(usableBytes(servers(100, 50, 30), 3), 30);
  });

  test('does not become less by a tiny server more', () => {
    assert.equal(usableBytes(servers(100, 100, 100, 1), 3), 100);
  });
});

suite('streams on servers', () => {
  const roomOf = (stores: ServerStore[]) => (server: string) => stores.find(({ name }) => name === server)?.bytes;

  test('share a server evenly, and use what a smaller one leaves on the others', () => {
    const streams = [
      { name: 'A', peers: ['n1', 'n2', 'n3'], least: 0 },
      { name: 'B', peers: ['n1', 'n2', 'n3'], least: 0 },
      { name: 'C', peers: ['n2', 'n3', 'n4'], least: 0 },
    ];
    assert.deepEqual(
      [...levelStreams(streams, roomOf(servers(90, 100, 100, 10)))],
      [
        ['C', 10],
        ['A', 45],
        ['B', 45],
      ],
    );
  });

  test('are never made smaller than they must be, even if a server has too little room for that', () => {
    const streams = [
      { name: 'A', peers: ['n1'], least: 80 },
      { name: 'B', peers: ['n1'], least: 0 },
      { name: 'C', peers: ['n1'], least: 0 },
    ];
    assert.deepEqual(Object.fromEntries(levelStreams(streams, roomOf(servers(100)))), { A: 80, B: 10, C: 10 });
    assert.deepEqual(Object.fromEntries(levelStreams(streams, roomOf(servers(50)))), { A: 80, B: 0, C: 0 });
  });

  test('never promise more than a server has, whatever the servers and the placement', () => {
    let seed = 7;
    const dice = (most: number) => (seed = (seed * 48_271) % 2_147_483_647) % most;
    for (let round = 0; round < 500; round += 1) {
      const stores = servers(...Array.from({ length: 3 + dice(6) }, () => 1 + dice(1_000)));
      const streams = Array.from({ length: 1 + dice(12) }, (_, index) => {
        const peers = stores.map(({ name }) => name).toSorted(() => dice(3) - 1);
        return { name: `${index}`, peers: peers.slice(0, 3), least: 0 };
      });
      const sizes = levelStreams(streams, roomOf(stores));
      assert.equal(sizes.size, streams.length);
      for (const { name, bytes } of stores) {
        const held = streams
          .filter(({ peers }) => peers.includes(name))
          .reduce((all, one) => all + (sizes.get(one.name) ?? 0), 0);
        assert.ok(held <= bytes, `${held} on ${name} with ${bytes}`);
      }
    }
  });

  test('are expected where the fewest are, and not on a tiny server', () => {
    const old = ['n1', 'n2', 'n3'];
    assert.deepEqual(placeNext(servers(100, 100, 100, 100), 3, [old, old]).toSorted(), ['n1', 'n2', 'n4']);
    assert.deepEqual(placeNext(servers(100, 100, 100, 10), 3, [old, old]).toSorted(), old);
  });
});
