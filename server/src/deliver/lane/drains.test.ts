import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { HeldTicket } from '../../stream/deliveries/tickets.ts';
import { type DrainsNeeds, openDrains } from './drains.ts';
import { newGate } from '../dispatch/gate.ts';

/** Lanes whose drain never ends, and a window for this many. */
function openEndless(most: number) {
  const gates = new Map<string, ReturnType<typeof newGate>>();
  const gateOf = (id: string) => {
    const gate = gates.get(id) ?? newGate(id, 0);
    gates.set(id, gate);
    return gate;
  };
  const atHosts = new Set<string>();
  const never = new Promise<never>(() => undefined);
  const needs = {
    config: { destination: () => never },
    lanes: { count: () => never },
    webhookOf: () => undefined,
    dispatcher: { gateOf, waitsForHost: (id: string) => atHosts.has(id) },
    looks: { room: (underWay: number) => Math.max(0, most - underWay) },
    now: () => 0,
  } as unknown as DrainsNeeds;
  const drains = openDrains(needs);
  const look = (destinationId: string, isUrgent: boolean) =>
    drains.drain({ destinationId, isUrgent, note: '' } as HeldTicket);
  return { drains, gateOf, look, atHosts };
}

suite('how many more lanes are looked at', () => {
  test('in the line of those whose receiver works: as many as there are places, whoever is in the other', () => {
    const { drains, look } = openEndless(1_000);
    for (let nth = 0; nth < 128; nth += 1) look(`dst_${nth}`, false);
    assert.deepEqual([drains.room(false), drains.room(true)], [0, 128]);
    for (let nth = 128; nth < 256; nth += 1) look(`dst_${nth}`, true);
    assert.deepEqual([drains.room(true), drains.count()], [0, 256]);
  });

  test('in the other: what the window leaves, beside those about which the engine is asked', () => {
    const { drains, gateOf, look } = openEndless(3);
    for (const id of ['a', 'b', 'c']) look(id, false);
    assert.equal(drains.room(false), 0);
    gateOf('a').inFlight = 1;
    assert.equal(drains.room(false), 1, 'for one it is the receiver that is waited for');
    Object.assign(gateOf('b'), { hasWorked: true });
    assert.equal(drains.room(false), 2, 'another one has turned out to work');
  });

  test('beside those that wait for their turn at a host: they take no room from others, up to a bound', () => {
    const { drains, look, atHosts } = openEndless(1_000);
    for (let nth = 0; nth < 128; nth += 1) {
      look(`dst_${nth}`, false);
      atHosts.add(`dst_${nth}`);
    }
    assert.equal(drains.room(false), 128);
    for (let nth = 128; nth < 512; nth += 1) {
      look(`dst_${nth}`, false);
      atHosts.add(`dst_${nth}`);
    }
    assert.equal(drains.room(false), 0);
  });
});
