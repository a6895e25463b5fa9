/** The hosts that a workspace sends to: which of them it has proven to be its own, and how it proves the others. */
import { CheckHost, HostCheck, PageQuery, PROOF_PATH, type TargetHost, TargetHosts } from '@millrace/contract/control';
import { hostOf, nameOf } from '../../../limits/target-host.ts';
import { findAuditStream } from '../../../store/audit-streams.ts';
import { countProofs, deleteProofs, listProofs, type ProofRow, setProof } from '../../../store/host-proofs.ts';
import { targetOrigins } from '../../../store/limit-use.ts';
import type { Tx } from '../../../store/open-store.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { readPage, toPage } from '../../http/paging.ts';
import { deliverRoute, type Route, route } from '../../http/route.ts';
import { findProof, keysOf, type Proof, proofOf } from '../../limits/target-hosts.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { urlProblem } from '../../settings/webhook-url.ts';
import { askDeliver, notDone } from './ask-deliver.ts';

/** Of a workspace: enough for people, and too few to bother a stranger. */
const CHECKS_PER_MINUTE = 20;

export const targetHostRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/target-hosts',
    summary:
      'The hosts that the workspace sends to, which of them it has proven to be its own, and how to prove the others',
    permission: 'destinations:read',
    query: PageQuery,
    answer: TargetHosts,
    status: 200,
    async handle({ tx, actor: { workspaceId }, query }, needs) {
      const page = readPage(query);
      const hosts = (await listHosts(tx, workspaceId)).filter(({ host }) => host > (page.after ?? ''));
      const rows = await listProofs(tx, workspaceId);
      const item = (used: UsedHost) => show(used, { workspaceId, rows }, needs);
      const items = toPage(hosts.slice(0, page.limit), page, { item, key: ({ host }) => host });
      return { isNeeded: needs.hostProof?.isNeeded === true, ...items };
    },
  }),
  deliverRoute({
    method: 'POST',
    url: '/api/v1/target-hosts/check',
    summary: 'Looks for the proof that the host of a URL is the workspace’s own: a DNS record, or a file on the host',
    permission: 'destinations:write',
    body: CheckHost,
    answer: HostCheck,
    status: 200,
    async ask({ actor: { workspaceId }, body, inWorkspace }, needs) {
      // As when a destination is saved: a host that no target may have needs no proof.
      const problem = urlProblem(body.url, needs.networks);
      if (problem !== undefined) throw new ApiProblem('invalid_request', [{ path: '/url', message: problem }]);
      if (needs.tries?.take(`check-host ${workspaceId}`, CHECKS_PER_MINUTE) === false)
        throw new ApiProblem('too_many_tries');
      const host = found(hostOf(body.url));
      // Before anything is asked: no check is without an entry.
      await inWorkspace((_tx, audit) => audit('host.checked', workspaceId, { details: { host } }));
      const steps = await lookForProof({ workspaceId, host, origin: new URL(body.url).origin }, needs);
      const way = steps.find(({ ok }) => ok)?.way;
      return inWorkspace(async (tx, audit) => {
        if (way !== undefined) {
          const proven = way === 'dns' ? nameOf(host) : host;
          await setProof(tx, workspaceId, { host: proven, way });
          await audit('host.proven', workspaceId, { details: { host: proven, way } });
          // No workspace needs more of them, and each is a row.
          await needs.limits?.mustHold(tx, workspaceId, 'targetHosts', await countProofs(tx, workspaceId));
        }
        const rows = await listProofs(tx, workspaceId, keysOf(host));
        const used = (await listHosts(tx, workspaceId)).find((each) => each.host === host) ?? { host, origin: null };
        return { ok: way !== undefined, steps, host: show(used, { workspaceId, rows }, needs) };
      });
    },
  }),
  route({
    method: 'DELETE',
    url: '/api/v1/target-hosts/:host/proof',
    summary: 'Forgets the proof of a host, and that of its name; destinations that send there go on',
    permission: 'destinations:write',
    status: 204,
    async handle({ tx, actor: { workspaceId }, params, audit }) {
      const hosts = await deleteProofs(tx, workspaceId, keysOf(params.host.toLowerCase()));
      if (hosts.length === 0) throw new ApiProblem('not_found');
      await audit('host.proof_forgotten', workspaceId, { details: { hosts } });
    },
  }),
];

type UsedHost = { host: string; origin: string | null };
type Proven = { workspaceId: string; rows: readonly ProofRow[] };

/** Those of destinations, that of the audit log's stream, and those that are proven and have no target yet. */
async function listHosts(tx: Tx, workspaceId: string): Promise<UsedHost[]> {
  const origins = (await targetOrigins(tx, { workspaceId })).map(({ origin }) => origin);
  const stream = await findAuditStream(tx, workspaceId);
  const hosts = new Map<string, string | null>();
  for (const url of [...origins, ...(stream === undefined ? [] : [stream.url])].toSorted()) {
    const host = hostOf(url);
    if (host !== undefined) hosts.set(host, new URL(url).origin);
  }
  const names = new Set([...hosts.keys()].flatMap(keysOf));
  for (const { host } of await listProofs(tx, workspaceId)) if (!names.has(host)) hosts.set(host, null);
  // By code units, as the cursor compares them.
  return [...hosts]
    .map(([host, origin]) => ({ host, origin }))
    .toSorted((one, other) => (one.host < other.host ? -1 : 1));
}

function show({ host, origin }: UsedHost, { workspaceId, rows }: Proven, needs: ControlNeeds): TargetHost {
  const { texts, recordName = null } = proofOf(needs.keyRing, workspaceId, host);
  const row = findProof(rows, host);
  const isExempt = needs.hostProof?.exempt.has(nameOf(host)) === true;
  return {
    host,
    state: row !== undefined ? 'proven' : isExempt ? 'exempt' : 'unproven',
    way: row?.way ?? null,
    provenAt: row?.proven_at.toISOString() ?? null,
    origin,
    proof: { text: texts[0] ?? '', recordName, path: PROOF_PATH },
  };
}

type Looked = { workspaceId: string; host: string; origin: string };

/** DNS first: it proves more, and the host notices nothing. */
async function lookForProof({ workspaceId, host, origin }: Looked, needs: ControlNeeds): Promise<HostCheck['steps']> {
  const proof = proofOf(needs.keyRing, workspaceId, host);
  const dns = await lookInDns(proof, needs);
  if (dns?.ok === true) return [dns];
  const question = { kind: 'read_proof', workspaceId, url: `${origin}${PROOF_PATH}`, lines: proof.texts } as const;
  const answer = await askDeliver(question, needs);
  if (answer.kind !== 'proof_read') throw notDone(answer);
  const { ok, detail } = answer;
  return [...(dns === undefined ? [] : [dns]), { way: 'http', ok, detail }];
}

async function lookInDns({ texts, recordName }: Proof, { hostProof }: ControlNeeds) {
  if (recordName === undefined || hostProof === undefined) return undefined;
  const records = await hostProof.readTxt(recordName);
  const ok = records.some((record) => texts.includes(record.trim()));
  const detail = ok ? 'The record has the text.' : `${recordName} has no TXT record with the text.`;
  return { way: 'dns', ok, detail } as const;
}
