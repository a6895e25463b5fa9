/**
 * The hosts that a workspace sends to. A change that brings a new one needs room for it and, where the operator asks for it, a proof that
 * the host is the workspace's own. A proof is a text that only this installation can make, for this workspace and this name: a TXT
 * record of the name proves all its ports, a file on the host proves one.
 */
import { isIP } from 'node:net';
import { PROOF_PATH } from '@millrace/contract/control';
import { hostOf, nameOf } from '../../limits/target-host.ts';
import type { KeyRing } from '../../secrets/seal.ts';
import { listProofs, type ProofRow } from '../../store/host-proofs.ts';
import type { Tx } from '../../store/open-store.ts';
import { ApiProblem } from '../problems/problems.ts';
import { countHosts } from './read-use.ts';
import type { WorkspaceLimits } from './workspace-limits.ts';

export type HostProof = {
  /** Whether control refuses new targets at hosts that are not proven. */
  isNeeded: boolean;
  /** Names that need no proof, in lower case. */
  exempt: ReadonlySet<string>;
  /** The TXT records of a name. */
  readTxt(name: string): Promise<string[]>;
};

export type HostNeeds = { keyRing: KeyRing; hostProof?: HostProof; limits?: WorkspaceLimits };

/** A URL, and the field of the request that has it. */
export type HostTarget = { path: string; url: string };
export type HostChange = { workspaceId: string; after: readonly HostTarget[]; before: readonly HostTarget[] };

/** The targets of a destination's settings. */
export function targetsIn(settings: unknown): HostTarget[] {
  const { targets = [] } = settings as { targets?: { url: string }[] };
  return targets.map(({ url }, index) => ({ path: `/settings/targets/${index}/url`, url }));
}

/** Counts the hosts of a workspace only when the change brings a new one: everything else always fits. */
export async function mustFitHosts(tx: Tx, needs: HostNeeds, change: HostChange): Promise<void> {
  const { limits } = needs;
  const { workspaceId } = change;
  if (limits === undefined || newTargets(change).length === 0) return;
  const hosts = (await countHosts(tx, { workspaceId })).get(workspaceId) ?? 0;
  await limits.mustHold(tx, workspaceId, 'targetHosts', hosts);
}

/** Hosts that were there before stay: the workspace sends to them already. */
export async function mustBeProven(tx: Tx, { hostProof, keyRing }: HostNeeds, change: HostChange): Promise<void> {
  if (hostProof?.isNeeded !== true) return;
  const { workspaceId } = change;
  const asked = newTargets(change).filter(({ host }) => !hostProof.exempt.has(nameOf(host)));
  if (asked.length === 0) return;
  const rows = await listProofs(tx, workspaceId, asked.flatMap(({ host }) => keysOf(host))); // biome-ignore format: short
  const unproven = asked.filter(({ host }) => findProof(rows, host) === undefined);
  if (unproven.length === 0) return;
  const errors = unproven.map(({ path, host }) => ({
    path,
    message: howToProve(host, proofOf(keyRing, workspaceId, host)),
  }));
  throw new ApiProblem('host_not_proven', errors);
}

function newTargets({ after, before }: HostChange): { path: string; host: string }[] {
  const known = new Set(before.map(({ url }) => hostOf(url)));
  return after.flatMap(({ path, url }) => {
    const host = hostOf(url);
    return host === undefined || known.has(host) ? [] : [{ path, host }];
  });
}

export type Proof = {
  /** The first one is shown. The others hold while the ring has the keys that they were made with. */
  texts: readonly string[];
  /** Undefined for an address, which has no records. */
  recordName: string | undefined;
};

/** Of the name, so that one text serves both ways. */
export function proofOf(keyRing: KeyRing, workspaceId: string, host: string): Proof {
  const name = nameOf(host);
  const texts = keyRing.tokensOf('host proof', [workspaceId, name]).map((token) => `millrace-proof=${token}`);
  return { texts, recordName: isAddress(name) ? undefined : `_millrace-challenge.${name}` };
}

/** The keys of the proofs that cover a host: the name with its port, and the name alone. */
export function keysOf(host: string): string[] {
  return [host, nameOf(host)];
}

export function findProof(rows: readonly ProofRow[], host: string): ProofRow | undefined {
  return rows.find((row) => row.host === host) ?? rows.find((row) => row.host === nameOf(host));
}

function howToProve(host: string, { texts: [text = ''], recordName }: Proof): string {
  const record = recordName === undefined ? '' : `set a TXT record of ${recordName}, or `;
  return `${host} is not proven to be yours. To prove it, ${record}serve a file at ${PROOF_PATH} of the host, with the text ${text}. Then have it checked: POST /api/v1/target-hosts/check.`;
}

function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0;
}
