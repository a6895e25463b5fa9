import { Explanation, type ReplayPart, type StoredFacts } from '@millrace/contract/control';
import { type AttemptRow, attemptsOf } from '../../../store/attempts.ts';
import { deliveriesOfMessage, type DeliveryRow } from '../../../store/deliveries.ts';
import { destinationNames } from '../../../store/destinations.ts';
import { jobStarts } from '../../../store/jobs.ts';
import type { Tx } from '../../../store/open-store.ts';
import { recordText } from '../../../store/record-text.ts';
import { type RefusalRow, refusalsOfMessage } from '../../../store/refusals.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { timeOfId } from '../../../store/new-id.ts';
import { toAttempt, toDelivery, toLane } from '../../../record/record-answers.ts';
import { type Route, route } from '../../http/route.ts';
import { findWithoutRow, type WithoutRow } from './find-without-row.ts';
import { readStoredFacts } from './stored-facts.ts';
import { tellStory } from '../../../record/tell-story.ts';
import { hideInExplanation } from './hide-payloads.ts';

export const explainRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/events/:messageId/explain',
    summary: 'Why an event did or did not reach each destination',
    answer: Explanation,
    permission: 'deliveries:read',
    payloads: { hide: hideInExplanation },
    status: 200,
    isCostly: true,
    async prepare({ actor, params, inWorkspace }, needs) {
      const messageId = recordText(params.messageId);
      const [row] = await inWorkspace((tx) => deliveriesOfMessage(tx, actor.workspaceId, messageId));
      return row === undefined ? null : readStoredFacts(row, needs);
    },
    async handle({ tx, actor, params, prepared }, needs) {
      const { workspaceId } = actor;
      const messageId = recordText(params.messageId);
      const rows = await deliveriesOfMessage(tx, workspaceId, messageId);
      const ids = rows.map(({ id }) => id);
      const attempts = await attemptsOf(tx, workspaceId, ids);
      const names = await destinationNames(
        tx,
        workspaceId,
        rows.map((row) => row.destination_id),
      );
      const refusals = (await refusalsOfMessage(tx, workspaceId, messageId)).flatMap((row) =>
        toRefusals(row, messageId),
      );
      const replays = await replaysOf(tx, workspaceId, { rows, attempts });
      const explained = rows.map((row) => explainOne(row, { attempts, names, replays, needs }));
      const withoutRow = await findWithoutRow(tx, workspaceId, { messageId: params.messageId, rows });
      const verdict = rows.length + withoutRow.length > 0 ? 'accepted' : refusals.length > 0 ? 'refused' : 'unknown';
      const stored = prepared as StoredFacts | null;
      const story = storyOf(rows, refusals, { explained, withoutRow });
      return { messageId, verdict, story, stored, refusals, withoutRow, destinations: explained };
    },
  }),
];

type Recorded = { rows: readonly DeliveryRow[]; attempts: readonly AttemptRow[] };

/** Every replay that sent some of these deliveries again. The id itself holds the time of its creation. */
async function replaysOf(tx: Tx, workspaceId: string, { rows, attempts }: Recorded): Promise<ReplayPart[]> {
  const ids = [...new Set([...rows, ...attempts].flatMap((one) => one.replay_id ?? []))];
  const starts = new Map((await jobStarts(tx, workspaceId, ids)).map((job) => [job.id, job]));
  const parts = ids.map((id): ReplayPart => {
    const { created_at: at = timeOfId(id), started_by: startedBy = null } = starts.get(id) ?? {};
    return { id, kind: id.startsWith('rpl_') ? 'replay' : 'redrive', startedAt: at.toISOString(), startedBy };
  });
  return parts.toSorted((one, other) => (one.startedAt < other.startedAt ? -1 : 1));
}

type Known = {
  attempts: readonly AttemptRow[];
  names: ReadonlyMap<string, string>;
  replays: readonly ReplayPart[];
  needs: ControlNeeds;
};

function explainOne(row: DeliveryRow, { attempts, names, replays, needs }: Known): Explanation['destinations'][number] {
  const own = attempts.filter((attempt) => attempt.delivery_id === row.id);
  const ownReplays = replays.filter(({ id }) => id === row.replay_id || own.some((each) => each.replay_id === id));
  const isWaiting = row.state === 'pending' || row.state === 'retrying';
  const lane = isWaiting ? needs.laneOf(row.destination_id) : undefined;
  return {
    ...toDelivery(row),
    history: own.map(toAttempt),
    destinationName: names.get(row.destination_id) ?? null,
    story: tellStory({ row, attempts: own, lane, replays: ownReplays }),
    replays: ownReplays,
    lane: toLane(lane),
  };
}

type Refused = Explanation['refusals'][number];

function toRefusals({ source_id: sourceId, code, samples }: RefusalRow, messageId: string): Refused[] {
  return samples
    .filter((sample) => sample.messageId === messageId)
    .map(({ at, message, call = null }) => ({ sourceId, code, message, at, call }));
}

const UNKNOWN = [
  'There is no record of this event.',
  'It may never have reached us, or come too recently; its source may have had no destination; it may be older than the records that are kept; it may have reached a destination at once that was deleted since, and its row was not kept; its user may be suppressed, and of such calls only the count is kept; or it was refused and is not among the samples of refused calls.',
];

type Found = { explained: Explanation['destinations']; withoutRow: readonly WithoutRow[] };

function storyOf(rows: DeliveryRow[], refusals: Refused[], { explained, withoutRow }: Found): string[] {
  const refused = refusals.map(({ at, code, message }) => `Refused at ${at} (${code}): ${message}`);
  const [first] = rows;
  const plain = withoutRow.map(tellWithoutRow);
  if (first === undefined) return refused.length + plain.length > 0 ? [...refused, ...plain] : UNKNOWN;
  const what = `${first.type}${first.name === null ? '' : ` "${first.name}"`}`;
  return [
    ...refused,
    `Accepted at ${first.received_at.toISOString()}: ${what}.`,
    ...explained.flatMap((one) => one.story.map((text) => `${one.destinationName ?? one.destinationId}: ${text}`)),
    ...plain,
  ];
}

function tellWithoutRow({ destinationName, destinationId, deliveredAt }: WithoutRow): string {
  const name = destinationName ?? destinationId;
  return `${name}: Delivered at ${deliveredAt}, at the first attempt. Nothing else is kept of it: the installation keeps a sample of such rows (MILLRACE_RECORD_ROWS).`;
}
