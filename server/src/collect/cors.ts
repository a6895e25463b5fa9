import type { Answer } from './answer.ts';

/** Any page may send: a write key is public by nature, and no cookie is ever read here. */
export const ANY_ORIGIN = '*';

/** Every header that the browser libraries in use ask for. */
const ALLOWED_HEADERS =
  'authorization, content-type, content-encoding, x-retry-count, anonymousid, sentat, x-write-key';

export const PREFLIGHT: Answer = {
  status: 204,
  body: '',
  headers: {
    'Access-Control-Allow-Methods': 'GET, POST, OPTIONS',
    'Access-Control-Allow-Headers': ALLOWED_HEADERS,
    'Access-Control-Max-Age': 7_200,
  },
};
