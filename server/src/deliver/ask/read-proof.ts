/** Reads the file that proves a host, with the client of the deliveries: its address policy, deadlines and limits, no redirects. */
import type { AskAnswer, ProofQuestion } from '../../domain/ask.ts';
import { SET_HEADERS } from '../../domain/webhook-headers.ts';
import type { Client } from '../client/open-client.ts';
import { KEPT_BODY_BYTES } from '../client/sending.ts';

const HEADERS = [SET_HEADERS.userAgent, 'Millrace/1.0', 'Accept', 'text/plain'];

export async function readProof(
  { workspaceId, url, lines }: ProofQuestion,
  { client }: { client: Pick<Client, 'post'> },
): Promise<AskAnswer> {
  const answer = await client.post({
    method: 'GET',
    workspaceId,
    url,
    headers: HEADERS,
    body: '',
    standing: 'unknown',
  });
  if (answer.kind === 'error') return said(false, answer.message);
  if (answer.status !== 200) return said(false, `The host answered ${answer.status} and not 200.`);
  // The client keeps no more of a body: the rest of it may be endless.
  if (Buffer.byteLength(answer.body) >= KEPT_BODY_BYTES) return said(false, 'The file has 16 KiB or more.');
  const isThere = answer.body.split('\n').some((line) => lines.includes(line.trim()));
  return isThere ? said(true, 'The file has the text.') : said(false, 'The file has no line with the text.');
}

function said(ok: boolean, detail: string): AskAnswer {
  return { kind: 'proof_read', ok, detail };
}
