/** Hashes and checks passwords. The rules for a new one (its length) are in contract/src/control/password.ts. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { deriveKey } from './derive-key.ts';

/** OWASP's numbers for argon2id; about 80 ms here. They are stored with each hash, so they can be raised later. */
const COST = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
/** Each hash takes 19 MiB and a thread: more at once would starve each other. */
const MAX_AT_ONCE = 2;

let running = 0;
const waiting: (() => void)[] = [];

/** In PHC form: $argon2id$v=19$m=…,t=…,p=…$salt$hash. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await tagOf(password, { ...COST, nonce });
  const settings = `m=${COST.memory},t=${COST.passes},p=${COST.parallelism}`;
  return `$argon2id$v=19$${settings}$${unpadded(nonce)}$${unpadded(tag)}`;
}

export async function isPassword(password: string, stored: string): Promise<boolean> {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(stored);
  if (match === null) return false;
  const [, memory, passes, parallelism, nonce = '', tag = ''] = match;
  const expected = Buffer.from(tag, 'base64');
  const actual = await tagOf(password, {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
    nonce: Buffer.from(nonce, 'base64'),
  });
  return timingSafeEqual(actual, expected);
}

async function tagOf(password: string, settings: typeof COST & { nonce: Buffer }): Promise<Buffer> {
  if (running >= MAX_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await deriveKey({ password, ...settings });
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
