/** Sends calls to the collection API, with the write key of a source. */
import { HELP, helpCodeOf } from '@millrace/contract/help';
import { visible } from '@millrace/console/format/texts';
import { guessCollectUrl } from '@millrace/console/collect-url';
import type { System } from '@millrace/contract/control';
import { Failure } from '../output/failures.ts';
import type { Control } from './control.ts';
import { Refusal, tellLost } from './problems.ts';

export type CollectAnswer = {
  success: boolean;
  code?: string;
  message?: string;
  accepted?: number;
  rejected?: { index: number; messageId?: string; code: string; message: string }[];
};

type Collect = { url: string; writeKey: string; timeoutMs: number };

/** All of them as one batch. A refused batch is thrown; a batch of which some calls were refused is answered. */
export async function sendCalls(
  { url, writeKey, timeoutMs }: Collect,
  calls: readonly object[],
): Promise<CollectAnswer> {
  const response = await fetch(`${url}/v1/batch`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ batch: calls }),
    signal: AbortSignal.timeout(timeoutMs),
    redirect: 'manual',
  }).catch((error: unknown) => {
    throw tellLost(url, error);
  });
  const answer = (await response.json().catch(() => undefined)) as CollectAnswer | undefined;
  if (response.ok && answer !== undefined) return answer;
  throw refused({ url, status: response.status, answer });
}

type Refused = { url: string; status: number; answer: CollectAnswer | undefined };

function refused({ url, status, answer }: Refused): Failure {
  const first = answer?.rejected?.[0];
  const code = first?.code ?? answer?.code;
  if (code === undefined) {
    return new Failure(`${url} answered ${status}, and not as the collection API does.`, {
      exit: 'unreachable',
      todo: 'Give the address of collect with --collect, or in MILLRACE_COLLECT_URL (port 8080 unless set otherwise).',
    });
  }
  const known = helpCodeOf(code);
  const message = first?.message ?? answer?.message ?? code;
  return new Failure(visible(`Collect refused the call (${code}): ${message}`), {
    exit: status === 503 ? 'unreachable' : 'refused',
    ...(known === undefined ? {} : { todo: HELP[known].remedy }),
  });
}

/** The address that the operator set, as far as this account may read it; else the host of control with the port of collect. */
export async function findCollectUrl(control: Control): Promise<string> {
  const system = await control.ask<System>('GET', '/system').catch((error: unknown) => {
    if (error instanceof Refusal) return undefined;
    throw error;
  });
  return guessCollectUrl({ settings: system?.process.settings ?? [], here: new URL(control.server) }).url;
}
