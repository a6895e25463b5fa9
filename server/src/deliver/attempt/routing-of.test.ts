import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { DestinationConfig } from '../../domain/configuration.ts';
import { routeEvent } from '../../domain/route-event.ts';
import type { DeliverConfig } from '../../stream/config/config-bucket.ts';
import { DESTINATION, EVENT } from '../../../testing/samples.ts';
import { routingOf } from './routing-of.ts';

const ALL: DestinationConfig[] = [
  { ...DESTINATION, id: 'dst_own', sourceId: 'src_computed' },
  { ...DESTINATION, id: 'dst_shop', sourceId: 'src_shop' },
  { ...DESTINATION, id: 'dst_off', sourceId: 'src_shop', enabled: false },
  { ...DESTINATION, id: 'dst_foreign', workspaceId: 'ws_2', sourceId: 'src_other' },
  { ...DESTINATION, id: 'dst_broken', workspaceId: '', sourceId: '', notUnderstood: 'not JSON' },
];

/** The computed source is not in the configuration: it may come later than its first calls. */
const config = {
  destination: (id: string) => ALL.find((one) => one.id === id),
  destinationsOf: (sourceId: string) => ALL.filter((one) => one.sourceId === sourceId),
  isEventBlocked: () => false,
  userMark: (_: string, userId: string, workspaceId?: string) =>
    workspaceId === 'ws_1' && userId === 'erased' ? { erasedBefore: Infinity, isSuppressed: false } : undefined,
} as unknown as DeliverConfig;

const routed = (destinations: string[], change: object = {}) => {
  const event = { ...EVENT, type: 'identify', ...change } as typeof EVENT;
  const routing = routingOf(config, 'src_computed', { workspaceId: 'ws_1', destinations });
  return routeEvent(event, routing).map(({ kind, destination, ...rest }) =>
    [destination.id, kind, 'reason' in rest ? rest.reason : ''].join(' ').trim(),
  );
};

suite('a computed call', () => {
  test('goes to the destinations that it is for, whatever source they are attached to, and to no others', () => {
    assert.deepEqual(routed(['dst_shop']), ['dst_shop delivery']);
    assert.deepEqual(routed(['dst_shop', 'dst_own']), ['dst_shop delivery', 'dst_own delivery']);
    assert.deepEqual(routed([]), []);
  });

  test('passes the switches of each destination', () => {
    assert.deepEqual(routed(['dst_off']), ['dst_off skip destination_disabled']);
    assert.deepEqual(routed(['dst_shop'], { integrations: { All: false } }), ['dst_shop skip integrations_map']);
  });

  test('never goes to a destination of another workspace, nor to one that is gone', () => {
    assert.deepEqual(routed(['dst_foreign', 'dst_gone', 'dst_shop']), ['dst_shop delivery']);
  });

  test('waits for a destination whose entry cannot be read', () => {
    assert.deepEqual(routed(['dst_broken']), ['dst_broken undecided']);
  });

  test('is withheld for an erased user, even before the computed source is in the configuration', () => {
    assert.deepEqual(routed(['dst_shop'], { userId: 'erased' }), ['dst_shop skip erased']);
  });
});

test('a call of a client goes to all destinations of its source', () => {
  const ids = routingOf(config, 'src_shop').destinations.map(({ id }) => id);
  assert.deepEqual(ids, ['dst_shop', 'dst_off']);
});
