import type { Projection } from '@millrace/contract/control';

/** Whether collect and deliver use the settings as shown; undefined when they do, which needs no line. */
export function tellProjection({ state, why }: Projection): string | undefined {
  if (state === 'applied') return undefined;
  if (state === 'pending') return 'not yet: collect and deliver are about to use it';
  return `no: ${why ?? 'the change has failed'}`;
}
