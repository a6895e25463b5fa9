import type { Destination } from '@millrace/contract/control';

export const TABS = [
  { value: 'test', label: 'Test' },
  { value: 'check-up', label: 'Check-up' },
  { value: 'preview', label: 'Preview on history' },
] as const;

export function readTab(tab: string | undefined): (typeof TABS)[number]['value'] {
  return TABS.find(({ value }) => value === tab)?.value ?? 'test';
}

/** Follows the name of the destination. */
export function trySentence({ enabled, paused }: Pick<Destination, 'enabled' | 'paused'>): string {
  if (!enabled) return 'is disabled, so only your tests reach its receiver.';
  if (paused) return 'is paused: events wait, and your tests are sent all the same.';
  return 'is enabled: your tests reach its receiver beside the deliveries.';
}
