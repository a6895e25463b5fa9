/** Hashes and checks passwords. The rules for a new one (its length) are in contract/src/control/password.ts. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { ApiProblem } from '../problems/problems.ts';
import { deriveKey } from './derive-key.ts';
import { type HashTurn, openHashTurns } from './hash-turns.ts';

/** OWASP's numbers for argon2id; about 80 ms here. They are stored with each hash, so they can be raised later. */
const COST = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };

/** No password has this hash. Checked for unknown people, so that they take as long as known ones. */
export const IMPOSSIBLE_HASH = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** The queue of this process. A line as long as this one takes about three seconds. */
export const hashTurns = openHashTurns({ maxWaiting: { known: 64, fresh: 32, failing: 8 }, patienceMs: 4_000 });

/** In PHC form: $argon2id$v=19$m=…,t=…,p=…$salt$hash. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  using _ = await ownTurn();
  const tag = await deriveKey({ password, ...COST, nonce });
  const settings = `m=${COST.memory},t=${COST.passes},p=${COST.parallelism}`;
  return `$argon2id$v=19$${settings}$${unpadded(nonce)}$${unpadded(tag)}`;
}

/** Without the caller's turn it waits for one of its own, in the line of known people. */
export async function isPassword(password: string, stored: string, turn?: HashTurn): Promise<boolean> {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(stored);
  if (match === null) return false;
  const [, memory, passes, parallelism, nonce = '', tag = ''] = match;
  const expected = Buffer.from(tag, 'base64');
  using _ = turn === undefined ? await ownTurn() : undefined;
  const actual = await deriveKey({
    password,
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
    nonce: Buffer.from(nonce, 'base64'),
  });
  return timingSafeEqual(actual, expected);
}

async function ownTurn(): Promise<HashTurn> {
  const turn = await hashTurns.enter('known');
  if (turn === undefined) throw new ApiProblem('sign_in_busy');
  return turn;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
