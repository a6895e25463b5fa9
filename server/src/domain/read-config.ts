import type { DestinationConfig, SourceConfig, UserConfig } from './configuration.ts';
import { type Fields, fieldProblem, isFields, readFields, type Stored, type Unread, unreadable } from './format.ts';

/** Ids become a part of subjects, where a dot or a wildcard would mean something else. */
const SAFE_ID = /^[A-Za-z0-9_-]{1,64}$/;

export function readSourceConfig(text: string): Stored<SourceConfig> {
  const read = readFields('source', text);
  if (!read.ok) return read;
  const why = sourceProblem(read.value);
  return why === undefined ? { ok: true, value: read.value as SourceConfig } : unreadable(`a source whose ${why}`);
}

export function isSourceConfig(value: unknown): value is SourceConfig {
  return isFields(value) && sourceProblem(value) === undefined;
}

function sourceProblem(value: Fields): string | undefined {
  const why = fieldProblem(value, SOURCE);
  if (why !== undefined) return why;
  const { id, writeKeyHashes, rateLimit, blockedEvents = [], cells = [], limits = {} } = value as SourceConfig;
  if (!SAFE_ID.test(id)) return 'id is not an id';
  if (!writeKeyHashes.every(isText)) return 'writeKeyHashes are not all text';
  if (!Array.isArray(blockedEvents)) return 'blockedEvents is not a list';
  if (!Array.isArray(cells) || !cells.every(isText)) return 'cells are not a list of text';
  if (!Object.values(limits).every(isLimit)) return 'limits are not all numbers above 0';
  const hasRate = rateLimit === undefined || (rateLimit.perSecond > 0 && rateLimit.burst >= 1);
  return hasRate ? undefined : 'rateLimit is not a rate';
}

const SOURCE = {
  id: 'text',
  enabled: 'boolean',
  writeKeyHashes: 'list',
  rateLimit: 'object?',
  cell: 'text?',
  spare: 'text?',
  limits: 'object?',
} as const;

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isLimit(most: unknown): boolean {
  return typeof most === 'number' && most > 0;
}

/** The owner of a destination, which every version writes in the same fields. */
export type DestinationOwner = Pick<DestinationConfig, 'workspaceId' | 'sourceId'>;
export type ReadDestination = Stored<DestinationConfig> & {
  /** Set for a newer format as well, if the fields are there. */
  owner?: DestinationOwner;
};

export function readDestinationConfig(text: string): ReadDestination {
  const read = readFields('destination', text);
  if (!read.ok) return withOwner(read, text);
  const why = fieldProblem(read.value, DESTINATION) ?? filtersProblem(read.value['filters']);
  if (why === undefined) return { ok: true, value: read.value as DestinationConfig };
  return withOwner(unreadable(`a destination whose ${why}`), text);
}

const DESTINATION = {
  id: 'text',
  workspaceId: 'text',
  sourceId: 'text',
  catalog: 'text',
  name: 'text',
  enabled: 'boolean',
  resumedAt: 'text?',
  settings: 'object',
} as const;

/** A newer process may know an operator that this one does not; a malformed rule fits no version. */
function filtersProblem(filters: unknown): string | undefined {
  if (filters === undefined) return undefined;
  const isRule = (rule: unknown) => isFields(rule) && fieldProblem(rule, { field: 'text', op: 'text' }) === undefined;
  return Array.isArray(filters) && filters.every(isRule) ? undefined : 'filters are not all rules';
}

function withOwner(unread: Unread, text: string): ReadDestination {
  const owner = ownerOf(text);
  return owner === undefined ? unread : { ...unread, owner };
}

function ownerOf(text: string): DestinationOwner | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isFields(value) || fieldProblem(value, { workspaceId: 'text', sourceId: 'text' }) !== undefined)
      return undefined;
    return { workspaceId: value['workspaceId'] as string, sourceId: value['sourceId'] as string };
  } catch {
    return undefined;
  }
}

export function readUserConfig(text: string): Stored<UserConfig> {
  const read = readFields('user', text);
  if (!read.ok) return read;
  const why = fieldProblem(read.value, { workspaceId: 'text', marks: 'list' });
  if (why !== undefined) return unreadable(`a user whose ${why}`);
  const areMarks = (read.value['marks'] as unknown[]).every(isMark);
  return areMarks ? { ok: true, value: read.value as UserConfig } : unreadable('a user whose marks are not all marks');
}

function isMark(mark: unknown): boolean {
  const kinds = { sourceId: 'text', erasedBefore: 'time', suppressed: 'boolean' } as const;
  return isFields(mark) && fieldProblem(mark, kinds) === undefined;
}
