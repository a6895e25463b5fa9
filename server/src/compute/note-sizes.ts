/** Notes the size of each definition every minute, for its curve. Every process does: the first of a minute counts. */
import type { Logger } from '../log.ts';
import { noteSizes, thinCurves } from '../store/definitions/size-curve.ts';
import type { Store } from '../store/open-store.ts';
import { every } from '../pause.ts';

const EVERY_MS = 60_000;
const THIN_EVERY = 60;

export function startNotingSizes(store: Store, log: Logger): AsyncDisposable {
  let rounds = 0;
  let noting: Promise<void> = Promise.resolve();
  const note = async () => {
    try {
      await store.asSystem(noteSizes);
      rounds += 1;
      if (rounds % THIN_EVERY === 0) await store.asSystem(thinCurves);
    } catch (error) {
      log.warn({ error: String(error) }, 'sizes.not_noted');
    }
  };
  const timer = every(EVERY_MS, () => void (noting = noting.then(note)));
  return {
    async [Symbol.asyncDispose]() {
      timer[Symbol.dispose]();
      await noting;
    },
  };
}
