import { type IncomingHttpHeaders, request } from 'node:http';
import { WRITE_KEY } from './running-collect.ts';

export type ToSend = {
  method?: string;
  path: string;
  headers?: Readonly<Record<string, string | string[]>>;
  body?: string | Buffer;
};

export type HttpAnswer = { status: number; headers: IncomingHttpHeaders; bytes: Buffer; tookMs: number };

/** The `Authorization` header of the known source. */
export const BASIC = basic(`${WRITE_KEY}:`);

export function basic(userAndPassword: string): string {
  return `Basic ${Buffer.from(userAndPassword).toString('base64')}`;
}

/** One request over real HTTP; no header is added but those HTTP itself needs. */
export function send(port: number, { method = 'POST', path, headers = {}, body = '' }: ToSend): Promise<HttpAnswer> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const isMeasured = method === 'POST' && headers['Transfer-Encoding'] === undefined;
    const length = isMeasured ? { 'Content-Length': Buffer.byteLength(body) } : {};
    const sent = request({ host: '127.0.0.1', port, method, path, headers: { ...length, ...headers } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('error', reject);
      answer.once('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          bytes: Buffer.concat(chunks),
          tookMs: performance.now() - startedAt,
        }),
      );
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

/** The body of an answer, read as JSON. */
export function jsonOf({ bytes }: HttpAnswer): unknown {
  return JSON.parse(bytes.toString());
}

/** With the right key in the header, as most server libraries send. */
export function sendWithKey(port: number, { headers, ...rest }: ToSend): Promise<HttpAnswer> {
  return send(port, { ...rest, headers: { Authorization: BASIC, ...headers } });
}
