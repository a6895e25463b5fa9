import { builtin } from './builtin.ts';
import type { GivingUp } from './giving-up.ts';
import type { Answer } from './judge-answer.ts';
import { openHttpPost } from './post-http.ts';
import { openFetchPost } from './post-fetch.ts';

export type PostBody = { body: Uint8Array | string; isGzip: boolean };

export type PostRequest = PostBody & { retryCount: number; giving: GivingUp };

/** Makes one request; always resolves, with an answer or the reason why there is none. */
export type Post = { send(request: PostRequest): Promise<Answer>; close(): void };

export type PostSettings = { url: URL; headers: Readonly<Record<string, string>>; timeoutMs: number };

/** node:http where there is one: `fetch` costs several times as much for the same request. */
export function openPost(settings: PostSettings): Post {
  const client = builtin(settings.url.protocol === 'https:' ? 'node:https' : 'node:http');
  return client === undefined ? openFetchPost(settings, fetch) : openHttpPost(settings, client);
}
