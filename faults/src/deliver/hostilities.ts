/** The attacks of a receiver on a client that posts to it. */
export const HOSTILITIES = [
  'endless-1xx',
  'one-byte-chunks',
  'endless-headers',
  'endless-body',
  'slow-drip',
  'reset-at-every-byte',
  'pipelined-answers',
  'gzip-bomb',
  'tls-renegotiation',
] as const;
export type Hostility = (typeof HOSTILITIES)[number];
