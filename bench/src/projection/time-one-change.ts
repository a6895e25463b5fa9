import { setTimeout as sleep } from 'node:timers/promises';
import { startProjector } from '../../../server/src/projection/project-config.ts';
import { addToOutbox } from '../../../server/src/store/outbox.ts';
import type { Scene } from './bench-projection.ts';

const CHANGES = 20;

/** From the commit of a change until a view has it, while the projector compares everything in the background as it starts. */
export async function timeOneChange(scene: Scene, sourceIds: string[]): Promise<{ mostMs: number; medianMs: number }> {
  const { store, stream, workspaceId } = scene;
  await using view = await stream.configView();
  await using projector = startProjector(scene);
  const times: number[] = [];
  for (let i = 0; i < CHANGES; i += 1) {
    const sourceId = sourceIds[Math.floor((i * sourceIds.length) / CHANGES)] ?? '';
    const id = view.destinationsOf(sourceId)[0]?.id ?? '';
    await store.asSystem(async (tx) => {
      await tx.query(`UPDATE destinations SET name = $2 WHERE id = $1`, [id, `changed ${i}`]);
      await addToOutbox(tx, { kind: 'destination', workspaceId, objectId: id });
    });
    const startedAt = performance.now();
    projector.changed();
    while (view.destination(id)?.name !== `changed ${i}`) await sleep(1);
    times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  return { mostMs: Math.round(times.at(-1) ?? Infinity), medianMs: Math.round(times[CHANGES / 2] ?? Infinity) };
}
