import type { OutcomeEntry } from './outcome.ts';
import { readLean } from './lean-outcomes.ts';
import { type Fields, fieldProblem, isFields, readJson, type Stored, unreadable, versionProblem } from './format.ts';

/** The entries of a batch, and those parts of it that cannot be read as one. */
export type ReadEntries = { entries: OutcomeEntry[]; bad: { item: unknown; why: string }[] };

export function readOutcomes(data: Uint8Array, version: string): Stored<ReadEntries> {
  const problem = versionProblem('outcomes', version);
  if (problem !== undefined) return problem;
  const json = readJson(data);
  if (!json.ok) return json;
  const items = isFields(json.value) ? json.value['entries'] : undefined;
  if (!Array.isArray(items)) return unreadable('a batch of outcomes without a list of entries');
  const read: ReadEntries = { entries: [], bad: [] };
  for (const item of [...items, ...readLean(json.value as Fields)]) {
    const why = isFields(item) ? entryProblem(item) : 'form is not an object';
    if (why === undefined) read.entries.push(item as OutcomeEntry);
    else read.bad.push({ item, why: `an outcome whose ${why}` });
  }
  return { ok: true, value: read };
}

const ENTRY = {
  workspaceId: 'text',
  sourceId: 'text',
  destinationId: 'text',
  deliveryId: 'text',
  messageId: 'text',
  type: 'text',
  name: 'text?',
  userId: 'text?',
  anonymousId: 'text?',
  replayId: 'text?',
  receivedAt: 'time',
  at: 'number',
} as const;

const ATTEMPT_OUTCOMES = ['delivered', 'retry', 'discarded', 'expired'];

/** Of a number: not every one is a time. */
const isTime = (at: unknown): boolean => !Number.isNaN(new Date(at as number).getTime());

function entryProblem(entry: Fields): string | undefined {
  const why = fieldProblem(entry, ENTRY);
  if (why !== undefined) return why;
  if (!isTime(entry['at'])) return 'at is not a time';
  switch (entry['kind']) {
    case 'waiting':
      return fieldProblem(entry, { attempts: 'number' });
    case 'given_up':
      return fieldProblem(entry, { attempts: 'number', reason: 'text' });
    case 'skipped':
      return fieldProblem(entry, { reason: 'text', rule: 'text?' });
    case 'attempt':
      return attemptProblem(entry);
    default:
      return 'kind is none that any version knows';
  }
}

function attemptProblem(entry: Fields): string | undefined {
  const why = fieldProblem(entry, { attempt: 'number', nextAt: 'number?', answers: 'list' });
  if (why !== undefined) return why;
  if (entry['nextAt'] !== undefined && !isTime(entry['nextAt'])) return 'nextAt is not a time';
  if (!ATTEMPT_OUTCOMES.includes(entry['outcome'] as string)) return 'outcome is none that any version knows';
  const areAnswers = (entry['answers'] as unknown[]).every(isAnswer);
  return areAnswers ? undefined : 'answers are not all answers';
}

function isAnswer(answer: unknown): boolean {
  if (!isFields(answer)) return false;
  const kinds = { url: 'text', status: 'number?', errorClass: 'text?', timings: 'object' } as const;
  if (fieldProblem(answer, kinds) !== undefined) return false;
  return fieldProblem(answer['timings'] as Fields, { totalMs: 'number' }) === undefined;
}
