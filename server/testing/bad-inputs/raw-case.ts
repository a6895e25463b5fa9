import { BASIC } from './send.ts';

/** Bytes written to a socket, and the statuses that come back; none means that the server only hangs up. */
export type RawCase = { name: string; bytes: string | Buffer; answers: number[] };

export const CALL = '{"userId":"u1","event":"Sent raw"}';

const SMUGGLED_CALL = '{"userId":"u1","event":"Smuggled"}';

/** A whole request where only a body is expected: it must never be taken for a request. */
export const SMUGGLED = post([`Content-Length: ${SMUGGLED_CALL.length}`], SMUGGLED_CALL);

/** The head of a request that would be accepted, with these lines added. */
export function post(lines: string[], body: string): string {
  return request('POST /v1/track HTTP/1.1', ['Host: collect', ...lines], body);
}

export function request(line: string, lines: string[], body = ''): string {
  return [line, ...lines, `Authorization: ${BASIC}`, '', body].join('\r\n');
}
