/** Posts entries of an audit log with the client of the deliveries, so with its address policy, deadlines and limits. */
import type { AskAnswer, AuditQuestion } from '../../domain/ask.ts';
import { fixedHeaders } from '../attempt/webhook.ts';
import type { Client } from '../client/open-client.ts';

export async function postAudit(
  question: AuditQuestion,
  { client }: { client: Pick<Client, 'post'> },
): Promise<AskAnswer> {
  const { workspaceId, url, body } = question;
  const headers = fixedHeaders(question.headers);
  const answer = await client.post({ workspaceId, url, headers, body, standing: 'unknown' });
  if (answer.kind === 'error') return { kind: 'audit_posted', status: null, why: answer.errorClass };
  return { kind: 'audit_posted', status: answer.status, why: null };
}
