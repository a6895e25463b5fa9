/** Request lines and headers as no honest client writes them. */
import { CALL, type RawCase, request } from './raw-case.ts';

const LENGTH = `Content-Length: ${CALL.length}`;
const POST = 'POST /v1/track HTTP/1.1';
const HOST = 'Host: collect';

function posted(lines: string[]): string {
  return request(POST, [HOST, LENGTH, ...lines], CALL);
}

function asked(line: string, lines = [HOST]): string {
  return request(line, lines);
}

export const HEADS: RawCase[] = [
  { name: 'no Host is refused', bytes: request(POST, [LENGTH], CALL), answers: [400] },
  { name: 'two Hosts are refused', bytes: posted(['Host: elsewhere']), answers: [400] },
  { name: 'the same Host twice is refused', bytes: posted([HOST]), answers: [400] },
  { name: 'lines that end in LF alone are refused', bytes: posted([]).replaceAll('\r\n', '\n'), answers: [400] },
  { name: 'a CR alone inside a header is refused', bytes: posted(['X-A: b\rX-C: d']), answers: [400] },
  { name: 'a header folded over two lines is refused', bytes: posted(['X-A: b', ' c']), answers: [400] },
  { name: 'a NUL in a header is refused', bytes: posted(['X-A: b\0c']), answers: [400] },
  { name: 'a NUL in the name of a header is refused', bytes: posted(['X-\0A: b']), answers: [400] },
  { name: 'a space in the name of a header is refused', bytes: posted(['X A: b']), answers: [400] },
  { name: 'a header without a colon is refused', bytes: posted(['nonsense']), answers: [400] },
  { name: 'a header without a name is refused', bytes: posted([': b']), answers: [400] },
  {
    name: 'bytes beyond ASCII in a header are no harm',
    bytes: Buffer.from(posted(['X-A: \xff\xfe\x80']), 'latin1'),
    answers: [200],
  },
  {
    name: 'headers named like parts of every object are no harm',
    bytes: posted(['__proto__: a', 'constructor: b', 'toString: c', 'hasOwnProperty: d', '__proto__: e']),
    answers: [200],
  },
  { name: 'a header of 17 KB is refused', bytes: posted([`X-A: ${'a'.repeat(17_000)}`]), answers: [431] },
  {
    name: '1,500 headers are refused',
    bytes: posted(Array.from({ length: 1_500 }, (_, i) => `X-${i}: a`)),
    answers: [431],
  },
  {
    name: 'a second Host behind 2,400 headers is refused',
    bytes: posted([...Array.from({ length: 2_400 }, () => 'a:'), 'Host: elsewhere']),
    answers: [431],
  },
  {
    name: 'an address of 20 KB is refused',
    bytes: asked(`GET /healthz?${'a'.repeat(20_000)} HTTP/1.1`),
    answers: [431],
  },
  { name: 'a request line of HTTP/0.9 is refused', bytes: 'GET /healthz\r\n\r\n', answers: [400] },
  { name: 'the version 0.9 spelled out is refused', bytes: asked('GET /healthz HTTP/0.9'), answers: [400] },
  { name: 'the version 1.2 is refused', bytes: asked('GET /healthz HTTP/1.2'), answers: [400] },
  { name: 'the version 2.0 is refused', bytes: asked('GET /healthz HTTP/2.0'), answers: [400] },
  { name: 'the preface of HTTP/2 is refused', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', answers: [400] },
  {
    name: 'chunks in HTTP/1.0 are refused',
    bytes: request('POST /v1/track HTTP/1.0', [HOST, 'Transfer-Encoding: chunked'], `22\r\n${CALL}\r\n0\r\n\r\n`),
    answers: [400],
  },
  {
    name: 'a call over HTTP/1.0 is stored and the connection closed',
    bytes: request('POST /v1/track HTTP/1.0', [LENGTH], CALL),
    answers: [200],
  },
  {
    name: 'an address with a host in the request line is refused',
    bytes: request('POST http://elsewhere/v1/track HTTP/1.1', [HOST, LENGTH], CALL),
    answers: [400],
  },
  { name: 'an address without a slash is refused', bytes: asked('GET healthz HTTP/1.1'), answers: [400] },
  { name: 'a NUL in the address is refused', bytes: asked('GET /health\0z HTTP/1.1'), answers: [400] },
  {
    name: 'bytes beyond ASCII in the address are refused',
    bytes: Buffer.from(asked('GET /\xff\xfe HTTP/1.1'), 'latin1'),
    answers: [400],
  },
  { name: 'an address that climbs up is not found', bytes: asked('GET /v1/../healthz HTTP/1.1'), answers: [404] },
  { name: 'CONNECT is hung up on', bytes: asked('CONNECT elsewhere:443 HTTP/1.1'), answers: [] },
  { name: 'TRACE is not allowed', bytes: asked('TRACE /v1/track HTTP/1.1'), answers: [405] },
  { name: 'PUT is not allowed', bytes: request('PUT /v1/track HTTP/1.1', [HOST, LENGTH], CALL), answers: [405] },
  {
    name: 'GET with a body is not allowed where calls go',
    bytes: request('GET /v1/track HTTP/1.1', [HOST, LENGTH], CALL),
    answers: [405],
  },
  {
    name: 'a method in small letters is refused',
    bytes: request('post /v1/track HTTP/1.1', [HOST, LENGTH], CALL),
    answers: [400],
  },
  { name: 'an unknown method is refused', bytes: asked('MAKE /healthz HTTP/1.1'), answers: [400] },
  { name: 'the whole server as address is not found', bytes: asked('OPTIONS * HTTP/1.1'), answers: [404] },
  {
    name: 'an upgrade to HTTP/2 is ignored',
    bytes: posted(['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk']),
    answers: [200],
  },
  {
    name: 'an upgrade to WebSocket is ignored',
    bytes: asked('GET /healthz HTTP/1.1', [
      HOST,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: eA==',
    ]),
    answers: [200],
  },
  { name: 'an expectation nobody knows is refused', bytes: posted(['Expect: bogus']), answers: [417] },
  { name: 'a client that asks first is told to go on', bytes: posted(['Expect: 100-continue']), answers: [100, 200] },
  { name: 'empty lines before a request are no harm', bytes: `\r\n\r\n${posted([])}`, answers: [200] },
  { name: 'a TLS hello is refused', bytes: Buffer.from('16030100f8010000f40303', 'hex'), answers: [400] },
  { name: 'the greeting of SSH is refused', bytes: 'SSH-2.0-OpenSSH_9.9\r\n', answers: [400] },
  {
    name: 'the line of a proxy that speaks PROXY is refused',
    bytes: `PROXY TCP4 10.0.0.1 10.0.0.2 5 6\r\n${posted([])}`,
    answers: [400],
  },
  {
    name: 'bytes without any sense are refused',
    bytes: Buffer.from([0, 255, 1, 254, 2, 253, 13, 10, 13, 10]),
    answers: [400],
  },
];
