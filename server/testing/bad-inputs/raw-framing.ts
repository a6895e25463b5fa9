/** Where a body ends, said in ways that two readers could understand differently: request smuggling lives here. */
import { type RawCase, CALL, SMUGGLED, post } from './raw-case.ts';

const CHUNK = `${CALL.length.toString(16)}\r\n${CALL}\r\n`;
const CHUNKED = `${CHUNK}0\r\n\r\n`;
const LENGTH = `Content-Length: ${CALL.length}`;
const TE = 'Transfer-Encoding: chunked';

export const FRAMING: RawCase[] = [
  {
    name: 'a Content-Length beside chunks that end early is refused',
    bytes: post([`Content-Length: ${`0\r\n\r\n${SMUGGLED}`.length}`, TE], `0\r\n\r\n${SMUGGLED}`),
    answers: [400],
  },
  {
    name: 'chunks beside a Content-Length that ends early are refused',
    bytes: post([TE, 'Content-Length: 4'], `${CHUNKED}${SMUGGLED}`),
    answers: [400],
  },
  { name: 'two equal Content-Lengths are refused', bytes: post([LENGTH, LENGTH], CALL), answers: [400] },
  {
    name: 'two different Content-Lengths are refused',
    bytes: post([LENGTH, `Content-Length: ${CALL.length + SMUGGLED.length}`], `${CALL}${SMUGGLED}`),
    answers: [400],
  },
  { name: 'a list as Content-Length is refused', bytes: post(['Content-Length: 5, 5'], '{"a":'), answers: [400] },
  { name: 'a Content-Length with a plus is refused', bytes: post(['Content-Length: +5'], '{"a":'), answers: [400] },
  { name: 'a negative Content-Length is refused', bytes: post(['Content-Length: -1'], CALL), answers: [400] },
  { name: 'a hexadecimal Content-Length is refused', bytes: post(['Content-Length: 0x5'], '{"a":'), answers: [400] },
  { name: 'two numbers as Content-Length are refused', bytes: post(['Content-Length: 5 5'], '{"a":'), answers: [400] },
  { name: 'an empty Content-Length is refused', bytes: post(['Content-Length: '], CALL), answers: [400] },
  {
    name: 'a Content-Length of 2^64 is refused',
    bytes: post(['Content-Length: 18446744073709551616'], CALL),
    answers: [400],
  },
  {
    name: 'a Content-Length over the limit is answered before the body is read',
    bytes: post(['Content-Length: 600000'], ''),
    answers: [413],
  },
  {
    name: 'chunks over the limit are answered while they come',
    bytes: post([TE], `8000\r\n${'x'.repeat(0x8000)}\r\n`.repeat(19)),
    answers: [413],
  },
  { name: 'chunked in capitals is chunked', bytes: post(['TRANSFER-ENCODING: Chunked'], CHUNKED), answers: [200] },
  {
    name: 'many chunks of one byte are one body',
    bytes: post([TE], `${Array.from(CALL, (letter) => `1\r\n${letter}\r\n`).join('')}0\r\n\r\n`),
    answers: [200],
  },
  {
    name: 'an unknown Transfer-Encoding is refused',
    bytes: post(['Transfer-Encoding: xchunked'], CHUNKED),
    answers: [400],
  },
  {
    name: 'a Transfer-Encoding that does not end in chunked is refused',
    bytes: post(['Transfer-Encoding: chunked, identity'], CHUNKED),
    answers: [400],
  },
  {
    name: 'two Transfer-Encodings that hide chunked are refused',
    bytes: post([TE, 'Transfer-Encoding: cow'], `${CHUNKED}${SMUGGLED}`),
    answers: [400],
  },
  {
    name: 'chunked twice is refused',
    bytes: post(['Transfer-Encoding: chunked, chunked'], CHUNKED),
    answers: [400],
  },
  {
    name: 'a Transfer-Encoding behind a vertical tab is refused',
    bytes: post(['Transfer-Encoding: \x0bchunked'], CHUNKED),
    answers: [400],
  },
  {
    name: 'a space before the colon of Transfer-Encoding is refused',
    bytes: post(['Transfer-Encoding : chunked'], CHUNKED),
    answers: [400],
  },
  { name: 'a chunk size with a prefix is refused', bytes: post([TE], '0x5\r\nhello\r\n0\r\n\r\n'), answers: [400] },
  { name: 'a chunk size with a space is refused', bytes: post([TE], '5 \r\nhello\r\n0\r\n\r\n'), answers: [400] },
  { name: 'a negative chunk size is refused', bytes: post([TE], '-5\r\nhello\r\n0\r\n\r\n'), answers: [400] },
  {
    name: 'a chunk size that overflows is refused',
    bytes: post([TE], `10000000000000005\r\n${CALL}\r\n0\r\n\r\n`),
    answers: [400],
  },
  { name: 'a chunk longer than its size is refused', bytes: post([TE], `3\r\n${CALL}\r\n0\r\n\r\n`), answers: [400] },
  {
    name: 'a chunk line that ends in LF alone is refused',
    bytes: post([TE], `${CHUNK.replace('\r', '')}0\r\n\r\n`),
    answers: [400],
  },
  {
    name: 'a LF inside a chunk extension is refused',
    bytes: post([TE], `${CALL.length.toString(16)};a\nb\r\n${CALL}\r\n0\r\n\r\n`),
    answers: [400],
  },
  {
    name: 'a short chunk extension is no harm',
    bytes: post([TE], `${CALL.length.toString(16)};a=b\r\n${CALL}\r\n0\r\n\r\n`),
    answers: [200],
  },
  {
    name: 'a chunk extension of 64 KB is refused',
    bytes: post([TE], `5;${'a'.repeat(65_536)}\r\nhello\r\n0\r\n\r\n`),
    answers: [413],
  },
  {
    name: 'a Content-Length among the trailers is refused',
    bytes: post([TE], `${CHUNK}0\r\nContent-Length: 5\r\n\r\n`),
    answers: [400],
  },
  {
    name: 'a second Host among the trailers changes nothing',
    bytes: post([TE], `${CHUNK}0\r\nHost: elsewhere\r\nAuthorization: Basic eDo=\r\n\r\n`),
    answers: [200],
  },
  {
    name: 'junk after a body is a bad request of its own',
    bytes: post([LENGTH], `${CALL}\x01\x02junk\r\n\r\n`),
    answers: [200, 400],
  },
  {
    name: 'two requests in one write get two answers',
    bytes: post([LENGTH], CALL).repeat(2),
    answers: [200, 200],
  },
];
