import { QuarantineDetails, type QuarantineItem, QuarantineItems, QuarantineQuery } from '@millrace/contract/control';
import type { QuarantineEntry } from '../../../stream/quarantine/quarantine.ts';
import { askEngine } from '../../http/ask-engine.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { mustBeOperator } from '../../http/operator.ts';
import { readPage, toPage } from '../../http/paging.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { recordChange } from '../../http/audit-change.ts';
import { type Asked, type Route, route } from '../../http/route.ts';

const READ = { permission: 'quarantine:read', status: 200 } as const;
const WRITE = { permission: 'quarantine:write' } as const;

export const quarantineRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/quarantine',
    summary: 'Stored things that could not be read or written, oldest first; for the operator',
    query: QuarantineQuery,
    answer: QuarantineItems,
    ...READ,
    async handle(asked, needs) {
      await mustBeOperator(asked, needs);
      const page = readPage(asked.query);
      const from = page.after === undefined ? 1 : readSequence(page.after) + 1;
      const entries = await askEngine(needs.side.quarantine.read(asked.query.kind ?? '*', from, page.limit));
      return toPage(entries, page, { item: toItem, key: ({ sequence }) => String(sequence) });
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/quarantine/:id',
    summary: 'One of them, with its bytes; for the operator',
    answer: QuarantineDetails,
    ...READ,
    async handle(asked, needs) {
      const entry = await findEntry(asked, needs);
      const payloadBase64 = Buffer.from(entry.payload).toString('base64');
      return { ...toItem(entry), headers: Object.fromEntries(entry.headers), payloadBase64 };
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/quarantine/:id/redrive',
    summary: 'Puts it back to where it came from, to be tried again; for the operator',
    status: 204,
    ...WRITE,
    async handle(asked, needs) {
      const entry = await findEntry(asked, needs);
      // These are written anew by those who own them: put back, an old one would take the place of a newer one.
      if (entry.kind === 'config' || entry.kind === 'health') throw new ApiProblem('wrong_state');
      await recordQuarantine(asked, { action: 'quarantine.redriven', entry }, needs);
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
    summary: 'Deletes it for good; for the operator',
    status: 204,
    ...WRITE,
    async handle(asked, needs) {
      const entry = await findEntry(asked, needs);
      await recordQuarantine(asked, { action: 'quarantine.deleted', entry }, needs);
      await askEngine(needs.side.quarantine.remove(entry.sequence));
    },
  }),
];

async function findEntry(asked: Asked, needs: ControlNeeds): Promise<QuarantineEntry> {
  await mustBeOperator(asked, needs);
  const sequence = Number(found(/^q_([1-9]\d{0,14})$/.exec(asked.params['id'] ?? '')?.[1]));
  return found(await askEngine(needs.side.quarantine.readOne(sequence)));
}

function recordQuarantine(asked: Asked, change: { action: string; entry: QuarantineEntry }, needs: ControlNeeds) {
  const { action, entry } = change;
  const { id, kind, stream, subject, sequence, reason } = toItem(entry);
  return recordChange(asked, { action, objectId: id, details: { kind, stream, subject, sequence, reason } }, needs);
}

function toItem({ sequence, kind, from, why, payload, at }: QuarantineEntry): QuarantineItem {
  const quarantinedAt = new Date(at).toISOString();
  return { id: `q_${sequence}`, kind, ...from, reason: why, bytes: payload.length, quarantinedAt };
}

function readSequence(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new ApiProblem('invalid_cursor');
  return Number(text);
}
