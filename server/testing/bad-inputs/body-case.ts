/** A body sent with the right key in the header, and the answer that must come. */
export type BodyCase = {
  name: string;
  /** `/v1/track` unless told. */
  path?: string;
  headers?: Readonly<Record<string, string>>;
  body: string | Buffer;
  status: number;
  code?: string;
  /** The codes of a batch's refused calls, in their order. */
  rejected?: string[];
  /** Fields of the first stored event, as JSON. */
  stored?: Readonly<Record<string, string>>;
};

export const BATCH = '/v1/batch';

/** A track call with these members of JSON text added. */
export function track(members: string): string {
  return `{"type":"track","userId":"u1","event":"E"${members === '' ? '' : `,${members}`}}`;
}

export function batchOf(...calls: string[]): string {
  return `{"batch":[${calls.join(',')}]}`;
}

/** Objects or arrays, nested this deep. */
export function nested(open: '[' | '{"a":', levels: number): string {
  const close = open === '[' ? ']' : '}';
  const inner = open === '[' ? '' : '1';
  return open.repeat(levels) + inner + close.repeat(levels);
}

export function filled(length: number, item: (index: number) => string): string {
  return Array.from({ length }, (_, index) => item(index)).join(',');
}
