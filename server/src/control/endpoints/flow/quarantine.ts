import { QuarantineDetails, type QuarantineItem, QuarantineItems, QuarantineQuery } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { appendAudit, INSTALLATION } from '../../../store/audit-log.ts';
import { findDestination } from '../../../store/destinations.ts';
import { findSource } from '../../../store/sources.ts';
import type { QuarantineEntry } from '../../../stream/quarantine/quarantine.ts';
import { auditActor } from '../../access/actor.ts';
import { askEngine } from '../../http/ask-engine.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { mustBeOperator } from '../../http/operator.ts';
import { readPage, toPage } from '../../http/paging.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { type ApiRequest, type Route, route } from '../../http/route.ts';

const READ = { permission: 'quarantine:read', status: 200 } as const;
const WRITE = { permission: 'quarantine:write' } as const;

export const quarantineRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/quarantine',
    summary: 'Stored messages that could not be read or written, oldest first; for the operator',
    query: QuarantineQuery,
    answer: QuarantineItems,
    ...READ,
    async handle({ actor, query }, needs) {
      await mustBeOperator(actor, needs);
      const page = readPage(query);
      const from = page.after === undefined ? 1 : readSequence(page.after) + 1;
      const entries = await askEngine(needs.side.quarantine.read(query.kind ?? '*', from, page.limit));
      return toPage(entries, page, { item: toItem, key: ({ sequence }) => String(sequence) });
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/quarantine/:id',
    summary:
      'One quarantined message; its bytes and headers only in the workspace that it belongs to; for the operator',
    answer: QuarantineDetails,
    payloads: { hide: withoutContents },
    ...READ,
    async handle(request, needs) {
      const entry = await findEntry(request, needs);
      const payloadBase64 = Buffer.from(entry.payload).toString('base64');
      const details = { ...toItem(entry), headers: Object.fromEntries(entry.headers), payloadBase64 };
      return (await isOfWorkspace(request, entry)) ? details : withoutContents(details);
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/quarantine/:id/redrive',
    summary: 'Puts a quarantined message back where it came from, to be tried again; for the operator',
    status: 204,
    ...WRITE,
    async handle(request, needs) {
      const entry = await findEntry(request, needs);
      // Control and deliver rewrite these entries: a redriven old one would replace a newer one.
      if (entry.kind === 'config' || entry.kind === 'health') throw new ApiProblem('wrong_state');
      await logChange('quarantine.redriven', request, entry, needs);
      const { side, now } = needs;
      const kept = await askEngine(side.quarantine.redrive(entry));
      if (kept !== 'stored') throw new ApiProblem('engine_unavailable');
      if (entry.kind === 'lane') {
        const [, , destinationId = ''] = entry.from.subject.split('.');
        await askEngine(side.tickets.ensure(destinationId, { dueAt: now().getTime(), hurry: true }));
      }
      await askEngine(side.quarantine.remove(entry.sequence));
    },
  }),
  route({
    method: 'DELETE',
    url: '/api/v1/quarantine/:id',
    summary: 'Deletes a quarantined message; for the operator',
    status: 204,
    ...WRITE,
    async handle(request, needs) {
      const entry = await findEntry(request, needs);
      await logChange('quarantine.deleted', request, entry, needs);
      await askEngine(needs.side.quarantine.remove(entry.sequence));
    },
  }),
];

type EntryRequest = ApiRequest<{ id: string }>;

async function findEntry({ actor, params }: EntryRequest, needs: ControlNeeds): Promise<QuarantineEntry> {
  await mustBeOperator(actor, needs);
  const sequence = Number(found(/^q_([1-9]\d{0,14})$/.exec(params.id)?.[1]));
  return found(await askEngine(needs.side.quarantine.readOne(sequence)));
}

/** Before the change, which is made in NATS and joins no transaction. */
function logChange(action: string, { actor, params }: EntryRequest, entry: QuarantineEntry, needs: ControlNeeds) {
  const about = { at: needs.now(), actor: auditActor(actor), objectId: params.id, details: detailsOf(entry) };
  return needs.store.asSystem((tx) => appendAudit(tx, INSTALLATION, { ...about, action }));
}

/** The headers of a stored request name the address of a person's device. */
function withoutContents<Shown extends Static<typeof QuarantineDetails>>(details: Shown) {
  return { ...details, headers: {}, payloadBase64: null };
}

/** An operator sees no payload of a workspace of others; the subject names the source or the destination. */
async function isOfWorkspace(
  { tx, actor: { workspaceId } }: EntryRequest,
  { from }: QuarantineEntry,
): Promise<boolean> {
  const [id = ''] = /\b(?:src|dst)_\w+/.exec(from.subject) ?? [];
  const find = id.startsWith('src_') ? findSource : findDestination;
  return (await find(tx, workspaceId, id)) !== undefined;
}

function detailsOf(entry: QuarantineEntry) {
  const { kind, stream, subject, sequence, reason } = toItem(entry);
  return { kind, stream, subject, sequence, reason };
}

function toItem({ sequence, kind, from, why, payload, at }: QuarantineEntry): QuarantineItem {
  const quarantinedAt = new Date(at).toISOString();
  return { id: `q_${sequence}`, kind, ...from, reason: why, bytes: payload.length, quarantinedAt };
}

function readSequence(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new ApiProblem('invalid_cursor');
  return Number(text);
}
