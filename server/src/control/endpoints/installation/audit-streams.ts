/** The URL that the entries of the audit log are sent to. control/audit/stream-audit.ts sends them. */
import { AuditStream, CreatedAuditStream, NewAuditStream } from '@millrace/contract/control';
import { randomBytes } from 'node:crypto';
import { Type } from 'typebox';
import { auditEnd } from '../../../store/audit-log.ts';
import { deleteAuditStream, findAuditStream, setAuditStream } from '../../../store/audit-streams.ts';
import { newId } from '../../../store/new-id.ts';
import type { Tx } from '../../../store/open-store.ts';
import { auditSecretPlace } from '../../audit/stream-audit.ts';
import { type Route, route } from '../../http/route.ts';
import { mustBeProven, type HostTarget } from '../../limits/target-hosts.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { urlProblem } from '../../settings/webhook-url.ts';

const URL = '/api/v1/audit-log/stream';
const SECRET_BYTES = 32;

export const auditStreamRoutes: Route[] = [
  route({
    method: 'GET',
    url: URL,
    summary: 'Where the entries of the audit log are sent, and how far the receiver has taken them; null without a URL',
    permission: 'audit:read',
    answer: Type.Union([AuditStream, Type.Null()]),
    status: 200,
    async handle({ tx, actor }) {
      const row = await findAuditStream(tx, actor.workspaceId);
      return row === undefined ? null : readStream(tx, actor.workspaceId);
    },
  }),
  route({
    method: 'POST',
    url: URL,
    summary:
      'Sends the entries of the audit log to a URL, in order; replaces the one before. Only this answer has the secret',
    permission: 'audit:write',
    body: NewAuditStream,
    answer: CreatedAuditStream,
    status: 201,
    async handle({ tx, actor, body, audit }, needs) {
      const { keyRing, networks } = needs;
      const { workspaceId } = actor;
      const problem = urlProblem(body.url, networks);
      if (problem !== undefined) throw new ApiProblem('invalid_request', [{ path: '/url', message: problem }]);
      const url = new globalThis.URL(body.url).href;
      await mustBeProven(tx, needs, {
        workspaceId,
        after: [{ path: '/url', url }],
        before: await sentTo(tx, workspaceId),
      });
      // The entry about the change itself is the first one that is sent.
      const { sequence } = await auditEnd(tx, workspaceId);
      const { host } = new globalThis.URL(url);
      await audit('audit_stream.set', workspaceId, { details: { host, from: body.from ?? 'now' } });
      const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
      const id = newId('aus');
      const secretSealed = keyRing.seal(secret, auditSecretPlace(workspaceId, id));
      await setAuditStream(tx, { workspaceId, id, url, secretSealed, position: body.from === 'start' ? 0 : sequence });
      return { ...(await readStream(tx, workspaceId)), secret };
    },
  }),
  route({
    method: 'DELETE',
    url: URL,
    summary: 'Sends the entries of the audit log nowhere any more',
    permission: 'audit:write',
    status: 204,
    async handle({ tx, actor, audit }) {
      if (!(await deleteAuditStream(tx, actor.workspaceId))) throw new ApiProblem('not_found');
      await audit('audit_stream.removed', actor.workspaceId);
    },
  }),
];

async function sentTo(tx: Tx, workspaceId: string): Promise<HostTarget[]> {
  const row = await findAuditStream(tx, workspaceId);
  return row === undefined ? [] : [{ path: '/url', url: row.url }];
}

async function readStream(tx: Tx, workspaceId: string) {
  const row = found(await findAuditStream(tx, workspaceId));
  const { sequence } = await auditEnd(tx, workspaceId);
  const position = Number(row.position);
  return {
    url: row.url,
    position,
    waiting: Math.max(0, sequence - position),
    failures: row.failures,
    lastError: row.last_error,
    nextAt: row.failures === 0 ? null : row.next_at.toISOString(),
    deliveredAt: row.delivered_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
  };
}
