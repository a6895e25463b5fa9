import type { LaneHealth } from './lane-health.ts';
import { fieldProblem, readFields, type Stored, unreadable } from './format.ts';

const STATES: readonly string[] = ['failing', 'asked_to_wait', 'paused', 'waiting', 'draining'];

const HEALTH = {
  destinationId: 'text',
  workspaceId: 'text',
  state: 'text',
  since: 'time',
  why: 'text?',
  quietUntil: 'text?',
  depth: 'number',
  bytes: 'number',
  limitBytes: 'number?',
  updatedAt: 'time',
} as const;

export function readHealth(text: string): Stored<LaneHealth> {
  const read = readFields('health', text);
  if (!read.ok) return read;
  const isState = STATES.includes(read.value['state'] as string);
  const why = fieldProblem(read.value, HEALTH) ?? (isState ? undefined : 'state is none that any version knows');
  return why === undefined ? { ok: true, value: read.value as LaneHealth } : unreadable(`a lane's health whose ${why}`);
}
