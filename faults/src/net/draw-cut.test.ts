import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../seeded-random.ts';
import { CUT_WISHES, type CutKind, type Direction, drawCut, drawWishes, isServed } from './draw-cut.ts';

const HOSTS = { servers: ['n1', 'n2', 'n3'], delivers: ['deliver'] } as const;

function cutOf(kind: CutKind, direction: Direction = 'both', seed = 1) {
  return drawCut({ kind, direction }, seededRandom(seed), { ...HOSTS, holder: 'n1' });
}

test('the same dice draw the same cuts, and every way comes before one comes again', () => {
  const draw = () => drawWishes(seededRandom(7), 50);
  assert.deepEqual(draw(), draw());
  assert.deepEqual(new Set(draw().slice(0, CUT_WISHES.length)), new Set(CUT_WISHES));
});

test('a one-sided cut takes the packets of one direction alone', () => {
  assert.deepEqual(cutOf('control from database', 'there').hops, [['control', 'database']]);
  assert.deepEqual(cutOf('control from database', 'back').hops, [['database', 'control']]);
  assert.equal(cutOf('control from database').hops.length, 2);
});

test('the server that collect is connected to is often the victim', () => {
  const victims = Array.from({ length: 100 }, (_, seed) => cutOf('server from servers', 'there', seed).hops[0]?.[0]);
  assert.ok(victims.filter((name) => name === 'n1').length > 50);
  assert.deepEqual(new Set(victims), new Set(HOSTS.servers));
});

test('collect is served as long as it reaches two servers that reach each other', () => {
  for (let seed = 0; seed < 50; seed += 1) {
    const served = (kind: CutKind) => isServed(cutOf(kind, 'both', seed), HOSTS);
    assert.equal(served('server from servers'), true);
    assert.equal(served('server from one server'), true);
    assert.equal(served('server from all'), true);
    assert.equal(served('role from a server'), true);
    assert.equal(served('deliver from receivers'), true);
    assert.equal(served('servers from each other'), false);
    const minority = cutOf('server and roles from servers', 'both', seed);
    assert.equal(isServed(minority, HOSTS), !minority.what.split(' from ')[0]?.includes('collect'));
    const role = cutOf('role from servers', 'both', seed);
    assert.equal(isServed(role, HOSTS), !role.what.startsWith('collect'));
  }
});
