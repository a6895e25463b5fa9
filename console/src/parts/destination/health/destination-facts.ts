/** The settings of a webhook destination, read with care: the API types them as unknown. */
import type { Destination } from '@millrace/contract/control';

export type Target = { url: string };

export function targetsOf({ settings }: Pick<Destination, 'settings'>): readonly Target[] {
  const targets = settings['targets'];
  if (!Array.isArray(targets)) return [];
  return targets.flatMap((target: unknown) =>
    isRecord(target) && typeof target['url'] === 'string' ? [{ url: target['url'] }] : [],
  );
}

export function numberSetting({ settings }: Pick<Destination, 'settings'>, name: string): number | undefined {
  const value = settings[name];
  return typeof value === 'number' ? value : undefined;
}

export function needsAllTargets({ settings }: Pick<Destination, 'settings'>): boolean {
  return settings['successPolicy'] === 'all';
}

export function hasSecret({ settings }: Pick<Destination, 'settings'>): boolean {
  const secret = settings['sharedSecret'];
  return isRecord(secret) && secret['set'] === true;
}

export function ruleText({ field, op, value, values }: Destination['filters'][number]): string {
  const operand = values === undefined ? value : values.map((one) => JSON.stringify(one)).join(', ');
  return `${field} ${op.replaceAll('_', ' ')}${operand === undefined ? '' : ` ${values === undefined ? JSON.stringify(operand) : String(operand)}`}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
