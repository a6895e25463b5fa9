/** A tar archive of a few small texts (POSIX ustar), so that the bundle needs no other program. */
const BLOCK = 512;

export type TarEntry = { name: string; text: string };

export function tarOf(entries: readonly TarEntry[], mtime: Date): Buffer {
  const parts = entries.flatMap(({ name, text }) => {
    const data = Buffer.from(text);
    return [headerOf(name, data.length, mtime), data, Buffer.alloc((BLOCK - (data.length % BLOCK)) % BLOCK)];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function headerOf(name: string, size: number, mtime: Date): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`the name ${name} is too long for a tar header`);
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) =>
    void header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at);
  header.write(name, 0);
  octal(0o600, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(Math.floor(mtime.getTime() / 1_000), 136, 12);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}
