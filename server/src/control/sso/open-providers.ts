/** Providers as the endpoints ask them. Keeps discovery documents for a while, and bounds the questions of a workspace. */
import type { Networks } from '../../http/address-policy.ts';
import { openResolver, type Resolve } from '../../http/resolve-name.ts';
import { ApiProblem } from '../problems/problems.ts';
import {
  type Answered,
  discover,
  exchangeCode,
  type Exchanged,
  type OpenConnection,
  signInPage,
  type Start,
} from './ask-provider.ts';
import { checkConnection, type CheckedStep } from './check-connection.ts';
import { openProviderFetch } from './open-provider-fetch.ts';

export type Providers = {
  /** The page of the provider at which the person signs in. */
  signInPage(workspaceId: string, connection: OpenConnection, start: Start): Promise<string>;
  exchange(workspaceId: string, connection: OpenConnection, answered: Answered): Promise<Exchanged>;
  check(workspaceId: string, connection: OpenConnection, redirectUri: string): Promise<CheckedStep[]>;
};

export type ProviderNeeds = { networks: Networks; now(): Date; resolve?: Resolve; timeoutMs?: number };

const KEPT_MS = 600_000;
const MAX_KEPT = 200;
/** Of one workspace at a time: a provider that hangs must not take all sockets of the process. */
const MAX_UNDER_WAY = 10;

type Kept = { at: number; metadata: ReturnType<typeof discover> };

export function openProviders({ networks, now, resolve = openResolver(), timeoutMs }: ProviderNeeds): Providers {
  const fetch = openProviderFetch({ networks, resolve, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  const needs = { fetch, now };
  const kept = new Map<string, Kept>();
  const underWay = new Map<string, number>();

  /** Concurrent questions share one request; a failure is not kept. */
  function metadataOf(issuer: string): ReturnType<typeof discover> {
    const before = kept.get(issuer);
    if (before !== undefined && performance.now() - before.at < KEPT_MS) return before.metadata;
    const metadata = discover(issuer, needs);
    kept.delete(issuer);
    kept.set(issuer, { at: performance.now(), metadata });
    if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value ?? '');
    metadata.catch(() => {
      if (kept.get(issuer)?.metadata === metadata) kept.delete(issuer);
    });
    return metadata;
  }

  async function bounded<T>(workspaceId: string, work: () => Promise<T>): Promise<T> {
    const count = underWay.get(workspaceId) ?? 0;
    if (count >= MAX_UNDER_WAY) throw new ApiProblem('sign_in_busy');
    underWay.set(workspaceId, count + 1);
    try {
      return await work();
    } finally {
      const left = (underWay.get(workspaceId) ?? 1) - 1;
      if (left === 0) underWay.delete(workspaceId);
      else underWay.set(workspaceId, left);
    }
  }

  return {
    signInPage: (workspaceId, connection, start) =>
      bounded(workspaceId, async () => signInPage(connection, await metadataOf(connection.issuer), start, needs)),
    exchange: (workspaceId, connection, answered) =>
      bounded(workspaceId, async () => exchangeCode(connection, await metadataOf(connection.issuer), answered, needs)),
    check(workspaceId, connection, redirectUri) {
      // The owner has just changed something there: the next sign-in reads the new document, too.
      kept.delete(connection.issuer);
      return bounded(workspaceId, () => checkConnection(connection, redirectUri, { ...needs, networks }));
    },
  };
}
