import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { OutcomeBatch } from '../domain/outcome.ts';
import { type Bed, openBed } from '../../testing/deliver-bed.ts';
import { answer, openReceiver } from '../../testing/receiver.ts';
import { until } from '../../testing/until.ts';
import { track } from '../../testing/samples.ts';

const STREAM_BYTES = 600_000;
const PADDING = 'x'.repeat(2_000);

async function flood(bed: Bed, name: string, events: number): Promise<void> {
  for (let from = 0; from < events; from += 10) {
    await bed.append(
      ...Array.from({ length: 10 }, (_, index) => track(`${name}${from + index}`, { properties: { PADDING } })),
    );
    await until(async () => (await bed.unsettled()) === 0);
  }
}

async function fillOf(bed: Bed, stream: string): Promise<number> {
  const { config, state } = await bed.manager.streams.info(stream);
  return state.bytes / config.max_bytes;
}

/** Every entry of the record that is about a destination. */
async function outcomesOf(bed: Bed, destinationId: string) {
  const batches = (await bed.textOf('OUTCOMES')).split('\n').filter((text) => text !== '');
  return batches
    .flatMap((text) => (JSON.parse(text) as OutcomeBatch).entries)
    .filter((entry) => entry.destinationId === destinationId);
}

suite('storage that workspaces share', { concurrency: true }, () => {
  test('four dead destinations fill their shares of a lane stream, and a neighbour whose receiver fails finds room', async () => {
    await using bed = await openBed();
    await bed.manager.streams.update('LANES-0', { max_bytes: STREAM_BYTES });
    await using receiver = await openReceiver(answer(503));
    const settings = { targets: [{ url: receiver.url }] };
    const hogs = ['dst_hog1', 'dst_hog2', 'dst_hog3', 'dst_hog4'];
    for (const id of hogs) await bed.putDestination({ id, settings, paused: true });
    await using _ = await bed.deliver();
    await flood(bed, 'flood', 120);
    const letters = await bed.deadLetters();
    for (const id of hogs)
      assert.ok(
        letters.some(({ destinationId }) => destinationId === id),
        `${id} is not stopped`,
      );
    assert.ok((await fillOf(bed, 'LANES-0')) < 0.75, `${await fillOf(bed, 'LANES-0')} of the lane stream is used`);

    await bed.putDestination({ id: 'dst_well', workspaceId: 'ws_2', settings });
    await flood(bed, 'neighbour', 20);
    await until(async () => Object.keys(await bed.laneGroups()).some((subject) => subject.includes('dst_well')));
    const later = await bed.deadLetters();
    assert.deepEqual(
      later.filter(({ destinationId }) => destinationId === 'dst_well'),
      [],
      'none of the neighbour is given up',
    );
    assert.ok(later.every(({ reason }) => reason === 'lane_full'));
  });

  test('a workspace whose receivers refuse everything fills its share of the dead letters, and the record tells what was not kept', async () => {
    await using bed = await openBed();
    await bed.manager.streams.update('DEAD', { max_bytes: STREAM_BYTES });
    await using receiver = await openReceiver(answer(400));
    const settings = { targets: [{ url: receiver.url }] };
    const hogs = ['dst_hog1', 'dst_hog2', 'dst_hog3'];
    for (const id of hogs) await bed.putDestination({ id, settings });
    await using deliver = await bed.deliver();
    await flood(bed, 'flood', 200);
    assert.ok((await fillOf(bed, 'DEAD')) < 0.75, `${await fillOf(bed, 'DEAD')} of the dead letters is used`);
    const kept = await bed.deadLetters();
    for (const id of hogs) await bed.deleteDestination(id);
    await bed.putDestination({ id: 'dst_well', workspaceId: 'ws_2', settings });
    await flood(bed, 'neighbour', 20);
    const letters = await bed.deadLetters();
    const ofNeighbour = letters.filter(({ destinationId }) => destinationId === 'dst_well');
    assert.equal(ofNeighbour.length, 20, 'every letter of the neighbour is kept');
    assert.equal(letters.length - ofNeighbour.length, kept.length, 'no letter that was kept made room');

    await deliver[Symbol.asyncDispose]();
    const told = (await Promise.all(hogs.map((id) => outcomesOf(bed, id)))).flat();
    assert.equal(told.length, 600, 'each delivery is in the record');
    const refused = told.filter((entry) => entry.kind === 'attempt' && entry.letter === 'refused');
    assert.equal(refused.length, 600 - kept.length, 'and so is each that has no letter');
    assert.ok(
      (await outcomesOf(bed, 'dst_well')).every((entry) => entry.kind === 'attempt' && entry.letter === undefined),
    );
  });
});
