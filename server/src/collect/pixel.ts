import type { Answer } from './answer.ts';

/** One transparent pixel. */
const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

export const PIXEL: Answer = {
  status: 200,
  body: GIF,
  headers: { 'Content-Type': 'image/gif', 'Content-Length': GIF.length, 'Cache-Control': 'no-store' },
};

/** The call inside a pixel's address, as bytes of JSON; both base64 alphabets are in use, and a bare + reads as a space. */
export function pixelCall(query: string): Buffer {
  const data = new URLSearchParams(query).get('data') ?? '';
  return Buffer.from(data.replaceAll(' ', '+'), 'base64');
}
