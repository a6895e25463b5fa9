/** Argon2id: Node 24's own, which works in a thread of its own; on Node 22 the same in WebAssembly, which stops the event loop meanwhile. */
import * as crypto from 'node:crypto';
import { promisify } from 'node:util';

type Argon2 = {
  password: string;
  nonce: Buffer;
  /** KiB. */
  memory: number;
  passes: number;
  parallelism: number;
  tagLength: number;
};

/** Undefined before Node 24.7, although its types say otherwise. */
const builtIn = crypto.argon2 as typeof crypto.argon2 | undefined;

export function deriveKey(asked: Argon2): Promise<Buffer> {
  return builtIn === undefined ? deriveInWasm(asked) : deriveInThread(builtIn, asked);
}

export function deriveInThread(argon2: typeof crypto.argon2, { password, ...settings }: Argon2): Promise<Buffer> {
  return promisify(argon2)('argon2id', { message: Buffer.from(password), ...settings });
}

export async function deriveInWasm({
  password,
  nonce,
  memory,
  passes,
  parallelism,
  tagLength,
}: Argon2): Promise<Buffer> {
  const { argon2id } = await import('hash-wasm');
  const cost = { memorySize: memory, iterations: passes, parallelism, hashLength: tagLength };
  return Buffer.from(await argon2id({ password, salt: nonce, ...cost, outputType: 'binary' }));
}
