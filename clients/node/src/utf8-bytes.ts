const encoder = typeof Buffer === 'undefined' ? new TextEncoder() : undefined;

/** How long the text is on the wire, which is what limits are about; its length in JavaScript is something else. */
export function utf8Bytes(text: string): number {
  return encoder === undefined ? Buffer.byteLength(text) : encoder.encode(text).length;
}
