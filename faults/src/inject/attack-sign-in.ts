import { openSignInScene, PASSWORD } from '../access/open-sign-in-scene.ts';
import { type SignInAnswer, type SignInClient, signInFrom } from '../access/try-sign-in.ts';
import { type Complaint, trueOnes } from '../complaints.ts';
import { cpuPercent, usageOf } from '../deliver/process-usage.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { spend } from '../wait-until.ts';

const ADDRESSES = 200;
const SIZES = { full: { perSecond: 1_000, ms: 60_000 }, ci: { perSecond: 400, ms: 10_000 } };
/** The first three tries of each address pass as those of people: an attack from new addresses delays strangers for that long. */
const BEGINNING_MS = 2_000;
const TICK_MS = 20;
const PERSON_EVERY_MS = 400;
const MAX_SIGN_IN_MS = 1_000;
const MAX_CPU_PERCENT = 100;
const MAX_RSS_MB = 600;

const ATTACKED = 'attacked@example.com';
const OTHER = 'other@example.com';

/**
 * Guessers try passwords from 200 addresses: half of the tries for one account, half for accounts that do not exist. Another person
 * signs in from an address of their own, and the attacked person from a browser that has signed in before.
 */
export async function attackSignIn(run: FaultRun): Promise<Findings> {
  const size = run.isFull ? SIZES.full : SIZES.ci;
  await using scene = await openSignInScene(run, [ATTACKED, OTHER]);
  using people = signInFrom('127.0.0.1', scene.port);
  const first = await people.tryOnce({ email: ATTACKED, password: PASSWORD });
  if (first.device === undefined) throw new Error(`the attacked person could not sign in before: ${first.code}`);
  const known = { email: ATTACKED, password: PASSWORD, cookie: first.device };
  const stranger = { email: OTHER, password: PASSWORD };

  await using attack = startAttack(scene.port, size.perSecond);
  await spend(BEGINNING_MS);
  const before = usageOf(scene.server.pid());
  const strangers: SignInAnswer[] = [];
  const knowns: SignInAnswer[] = [];
  for (const endAt = performance.now() + size.ms; performance.now() < endAt; ) {
    strangers.push(await people.tryOnce(stranger));
    knowns.push(await people.tryOnce(known));
    await spend(PERSON_EVERY_MS);
  }
  const after = usageOf(scene.server.pid());
  await attack.stop();
  const triesPerSecond = Math.round((1_000 * attack.count()) / attack.ms());
  const seen = { strangers, knowns, codes: attack.codes, triesPerSecond };
  return judge({ ...seen, cpu: cpuPercent(before, after), rssMb: after.rssMb }, size.perSecond);
}

type Seen = {
  strangers: readonly SignInAnswer[];
  knowns: readonly SignInAnswer[];
  codes: ReadonlyMap<string, number>;
  triesPerSecond: number;
  cpu: number;
  rssMb: number;
};

function judge({ strangers, knowns, codes, triesPerSecond, cpu, rssMb }: Seen, wanted: number): Findings {
  const broken: Complaint[] = [
    [strangers.some(isWrong), `another person was refused: ${codesOf(strangers)}`],
    [knowns.some(isWrong), `the attacked person was refused: ${codesOf(knowns)}`],
    [codes.has('done'), 'a wrong password signed in'],
    [!(rssMb < MAX_RSS_MB), `the process took ${rssMb} MB`],
  ];
  const slow: Complaint[] = [
    [strangers.some(isBusy), `another person had to wait: ${codesOf(strangers)}`],
    [knowns.some(isBusy), `the attacked person had to wait: ${codesOf(knowns)}`],
    [!(slowest(strangers) < MAX_SIGN_IN_MS), `another person signed in after ${slowest(strangers)} ms`],
    [!(slowest(knowns) < MAX_SIGN_IN_MS), `the attacked person signed in after ${slowest(knowns)} ms`],
    [!(cpu <= MAX_CPU_PERCENT), `the process took ${cpu} % of a core`],
    [triesPerSecond < 0.9 * wanted, `the attack only had ${triesPerSecond} tries a second`],
  ];
  const figures = {
    addresses: ADDRESSES,
    triesPerSecond,
    answers: Object.fromEntries(codes),
    cpuPercent: cpu,
    rssMb,
    strangerMs: spread(strangers),
    knownMs: spread(knowns),
  };
  return { failures: trueOnes(broken), late: trueOnes(slow), figures };
}

/** Tries that do not wait for each other, from one address after the other, until it is stopped. */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
function startAttack(port: number, perSecond: number) {
  const clients = Array.from({ length: ADDRESSES }, (_, nth) =>
    signInFrom(`127.1.${nth >> 7}.${(nth & 127) + 1}`, port),
  );
  const codes = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  const startedAt = performance.now();
  let sent = 0;
  let endedAt: number | undefined;
  const ms = () => (endedAt ?? performance.now()) - startedAt;

  async function tryOne(client: SignInClient, nth: number): Promise<void> {
    const email = nth % 2 === 0 ? ATTACKED : `guess${nth}@example.com`;
    const { code } = await client.tryOnce({ email, password: `guess ${nth}` });
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }

  const ticking = setInterval(() => {
    for (const due = (ms() / 1_000) * perSecond; sent < due; sent += 1) {
      const client = clients[sent % ADDRESSES];
      if (client === undefined) continue;
      const one = tryOne(client, sent).finally(() => underWay.delete(one));
      underWay.add(one);
    }
  }, TICK_MS);

  async function stop(): Promise<void> {
    clearInterval(ticking);
    endedAt ??= performance.now();
    await Promise.all(underWay);
  }

  return {
    codes,
    count: () => sent,
    ms,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      for (const client of clients) client[Symbol.dispose]();
    },
  };
}

/** A stall of the machine fills the queue, or lets a request time out; nothing else refuses a right password. */
function isBusy({ status }: SignInAnswer): boolean {
  return status === 503 || status === 0;
}

function isWrong(answer: SignInAnswer): boolean {
  return answer.status !== 204 && !isBusy(answer);
}

function slowest(answers: readonly SignInAnswer[]): number {
  return Math.round(Math.max(...answers.map(({ ms }) => ms)));
}

function spread(answers: readonly SignInAnswer[]) {
  const sorted = answers.map(({ ms }) => Math.round(ms)).toSorted((one, other) => one - other);
  return { count: sorted.length, median: sorted[sorted.length >> 1] ?? 0, most: sorted.at(-1) ?? 0 };
}

function codesOf(answers: readonly SignInAnswer[]): string {
  return [...Map.groupBy(answers, ({ code }) => code)].map(([code, { length }]) => `${code} × ${length}`).join(', ');
}
