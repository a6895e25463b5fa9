import { readNetworks } from '../src/http/address-policy.ts';
import { type Client, type ClientNeeds, openClient } from '../src/deliver/client/open-client.ts';
import type { Answer, Post } from '../src/deliver/client/post.ts';
import { until } from './until.ts';

/** A client that may reach the receivers of the tests. */
export function openTestClient(needs: Partial<ClientNeeds> = {}): Client {
  return openClient({ networks: readNetworks('127.0.0.0/8,::1/128'), ...needs });
}

export function postTo(client: Client, url: string, rest: Partial<Post> = {}): Promise<Answer> {
  const headers = ['content-type', 'application/json'];
  return client.post({ workspaceId: 'ws_one', url, headers, body: '{"type":"track"}', ...rest });
}

/** The answer in one word: a status or the class of an error. */
export function wordFor(answer: Answer): number | string {
  return answer.kind === 'status' ? answer.status : answer.errorClass;
}

/** Nothing is left: no POST, no pool, no socket. */
export async function isEmpty(client: Client): Promise<void> {
  await until(() => Object.values(client.stats()).every((count) => count === 0));
}
