import type { Answer } from './judge-answer.ts';
import type { Post, PostSettings } from './post.ts';

/** For the runtimes without node:http. */
export function openFetchPost({ url, headers, timeoutMs }: PostSettings, fetch: typeof globalThis.fetch): Post {
  return {
    async send({ body, isGzip, retryCount, giving }): Promise<Answer> {
      const aborting = new AbortController();
      const abort = () => aborting.abort();
      const limit = setTimeout(abort, timeoutMs);
      giving.acts.add(abort);
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: {
            ...headers,
            ...(isGzip ? { 'Content-Encoding': 'gzip' } : {}),
            ...(retryCount > 0 ? { 'X-Retry-Count': String(retryCount) } : {}),
          },
          body,
          redirect: 'manual',
          signal: aborting.signal,
        });
        const retryAfter = response.headers.get('retry-after') ?? undefined;
        return { status: response.status, retryAfter, body: await response.text() };
      } catch (error) {
        return { error: aborting.signal.aborted ? `No answer within ${timeoutMs} ms.` : reasonOf(error) };
      } finally {
        clearTimeout(limit);
        giving.acts.delete(abort);
      }
    },
    close() {},
  };
}

/** fetch says "fetch failed" and hides why in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
