/** A process that folds batches as a reader of a stream does, and prints its figures as one line of JSON. */
import { openProfileStore } from '../../../server/src/store/compute/open-profile-store.ts';
import { openStore } from '../../../server/src/store/open-store.ts';
import { foldUsers, keyOfUser, type Load, makeUsers } from './synthetic-fold.ts';

export type ReaderTask = { databaseUrl: string; stream: string; batch: number; events: number; load: Load };
export type ReaderFigures = {
  events: number;
  transitions: number;
  profiles: number;
  seconds: number;
  batchMs: number[];
  rejected: number;
};

if (import.meta.main) console.log(JSON.stringify(await read(JSON.parse(process.argv[2] ?? '') as ReaderTask)));

async function read({ databaseUrl, stream, batch, events, load }: ReaderTask): Promise<ReaderFigures> {
  await using store = await openStore(databaseUrl);
  const profiles = openProfileStore(store);
  const held = await profiles.takeOver(stream, stream);
  const figures: ReaderFigures = { events: 0, transitions: 0, profiles: 0, seconds: 0, batchMs: [], rejected: 0 };
  const startedAt = performance.now();
  while (figures.events < events) {
    const users = makeUsers(batch, load);
    const keys = [...new Set(users)].map((user) => keyOfUser(load.workspaceId, user));
    const batchAt = performance.now();
    try {
      const changes = await profiles.fold(held, async (tx) => {
        const loaded = await tx.load(keys, () => keys);
        const folded = foldUsers(users, loaded.profiles, load);
        await tx.write(folded);
        const sequence = figures.events + batch;
        await tx.moveTo({ createdAt: 1, sequence, storedAt: Date.now(), clock: Date.now(), left: [] });
        return folded;
      });
      figures.events += batch;
      figures.transitions += changes.transitions.length;
      figures.profiles += changes.profiles.length;
    } catch {
      figures.rejected += 1;
    }
    figures.batchMs.push(performance.now() - batchAt);
  }
  figures.seconds = (performance.now() - startedAt) / 1_000;
  return figures;
}
