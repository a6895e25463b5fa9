import { join } from 'node:path';
import { ROOT_DIR } from '@millrace/engines';
import type { scanLetters } from '../../../server/src/control/jobs/scan-letters.ts';
import { openDeadLetterBox } from '../../../server/src/stream/deliveries/dead-letter-box.ts';
import { openInspector } from '../../../server/testing/inspector.ts';
import type { Findings } from '../run-fault.ts';
import { SILENT } from '../sources.ts';
import type { DeliverScene } from './open-deliver-scene.ts';
import { destinationIds, type Plan } from './plan-workspaces.ts';

type Scanner = { scanLetters: typeof scanLetters };

/** Every call that a receiver refused is a dead letter, written by either version; each version must read all of them. */
export async function readLettersInBoth(
  { cluster, oracle }: DeliverScene,
  { destinations, sources }: Plan,
  versionBefore: string,
): Promise<Pick<Findings, 'failures' | 'figures'>> {
  await using inspector = await openInspector(cluster.adminUrl, SILENT);
  const box = openDeadLetterBox(inspector.manager, { append: () => Promise.resolve('unavailable' as const) });
  const calls = [...oracle.calls].filter(([, { sourceId }]) => sources.some(({ id }) => id === sourceId));
  const scan = { destinationIds: destinationIds({ destinations }), filter: {}, at: undefined, most: 100_000 };
  const failures: string[] = calls.length === 0 ? ['no call was refused'] : [];
  const counts: Record<string, number> = { calls: calls.length };
  for (const [version, root] of Object.entries({ before: versionBefore, now: ROOT_DIR })) {
    const reader = (await import(join(root, 'server/src/control/jobs/scan-letters.ts'))) as Scanner;
    const { found } = await reader.scanLetters(box, scan);
    const read = new Set(found.map(({ letter }) => letter.delivery.event.messageId));
    const missing = calls.filter(([id]) => !read.has(id)).length;
    counts[version] = found.length;
    if (missing > 0) failures.push(`version ${version} does not find ${missing} of ${calls.length} dead letters`);
  }
  return { failures, figures: { deadLetters: counts } };
}
