/**
 * Sends the mails that wait in PostgreSQL. A mail is `waiting` until the mail server has taken it (`sent`), or until it refused it for good, the
 * attempts are used up or the link in it has ended (`dead`). A process claims a mail under a lease before it sends: a mail whose process dies
 * is sent again, so a person may get it twice, and never not at all. Dead mails are counted by a metric and named by `millrace doctor`.
 */
import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics/open-metrics.ts';
import { pause } from '../../pause.ts';
import type { KeyRing } from '../../secrets/seal.ts';
import { claimMails, countMails, delayMail, endMail, type MailRow } from '../../store/mails.ts';
import type { Store } from '../../store/open-store.ts';
import { judgeMail } from './judge-mail.ts';
import type { AddressedMail, MailAnswer, Mailer } from './open-mailer.ts';
import { mailPlace } from './add-mail.ts';

export type SendNeeds = { store: Store; keyRing: KeyRing; mailer: Mailer; metrics?: Metrics; log: Logger };

const LOOK_MS = 1_000;
const COUNT_MS = 15_000;
const AT_ONCE = 4;
/** Longer than one attempt can take: each step of it has ten seconds. */
const LEASE_MS = 300_000;

export function startSendingMails(needs: SendNeeds): AsyncDisposable {
  const life = new AbortController();
  const sending = openSending(needs, life.signal);
  const keep = async (everyMs: number, work: () => Promise<void>) => {
    while (!life.signal.aborted) {
      await work().catch((error: unknown) => needs.log.warn({ error: String(error) }, 'mail.not_looked'));
      await pause(everyMs, life.signal);
    }
  };
  const running = [keep(LOOK_MS, sending.sendDue), keep(COUNT_MS, sending.count)];
  return {
    async [Symbol.asyncDispose]() {
      life.abort();
      await Promise.all(running);
    },
  };
}

export type Sending = {
  /** Sends all mails that are due, a few at a time. */
  sendDue(): Promise<void>;
  /** Reads the numbers that the metrics show. */
  count(): Promise<void>;
};

export function openSending(needs: SendNeeds, signal: AbortSignal): Sending {
  const { store, metrics } = needs;
  const totals = metrics?.counters('millrace_mails_total');
  let counts = { waiting: 0, dead: 0 };
  metrics?.gauge('millrace_mails_waiting', () => counts.waiting);
  metrics?.gauge('millrace_mails_dead', () => counts.dead);
  return {
    async sendDue() {
      while (!signal.aborted) {
        const claimed = await store.asSystem((tx) => claimMails(tx, { limit: AT_ONCE, leaseMs: LEASE_MS }));
        const outcomes = await Promise.all(claimed.map((row) => sendOne(row, needs, signal)));
        for (const outcome of outcomes) totals?.(outcome).add();
        if (claimed.length < AT_ONCE) return;
      }
    },
    async count() {
      counts = await store.asSystem(countMails);
    },
  };
}

type Outcome = 'sent' | 'retry' | 'dead';

async function sendOne(
  row: MailRow,
  { store, keyRing, mailer, log }: SendNeeds,
  signal: AbortSignal,
): Promise<Outcome> {
  const { workspace_id: workspaceId, id, kind, attempts, left_ms: leftMs } = row;
  const answer = leftMs <= 0 ? EXPIRED : await attempt(row, { keyRing, mailer }, signal);
  const fate = answer.ok ? ({ kind: 'sent' } as const) : judgeMail({ attempts, leftMs, failure: answer });
  const why = answer.ok ? undefined : answer.why;
  await store.asSystem((tx) => {
    const key = { workspaceId, id };
    if (fate.kind === 'retry') return delayMail(tx, key, { afterMs: fate.afterMs, why: why ?? '' });
    return endMail(tx, key, { state: fate.kind, why: why ?? null });
  });
  const line = { mailId: id, kind, attempts, ...(why === undefined ? {} : { why }) };
  if (fate.kind === 'dead') log.error(line, 'mail.dead');
  else log.info(line, fate.kind === 'sent' ? 'mail.sent' : 'mail.delayed');
  return fate.kind;
}

const EXPIRED: MailAnswer = { ok: false, isPermanent: true, why: 'link_ended' };
const STOPPED: MailAnswer = { ok: false, isPermanent: false, why: 'stopped' };

/** A stop of the process does not wait for a slow mail server: the mail is sent again by the next process. */
async function attempt(
  row: MailRow,
  { keyRing, mailer }: Pick<SendNeeds, 'keyRing' | 'mailer'>,
  signal: AbortSignal,
): Promise<MailAnswer> {
  const mail = openMail(row, keyRing);
  if (mail === undefined) return { ok: false, isPermanent: false, why: 'not_opened' };
  const { promise: stopped, resolve: stop } = Promise.withResolvers<MailAnswer>();
  const stopNow = () => stop(STOPPED);
  signal.addEventListener('abort', stopNow, { once: true });
  try {
    return await Promise.race([mailer.send(mail), stopped]);
  } finally {
    signal.removeEventListener('abort', stopNow);
  }
}

/** Undefined while this process lacks the key: in a rotation another process may have it. */
function openMail({ workspace_id, id, content_sealed }: MailRow, keyRing: KeyRing): AddressedMail | undefined {
  try {
    return {
      id,
      ...(JSON.parse(keyRing.open(content_sealed, mailPlace(workspace_id, id))) as Omit<AddressedMail, 'id'>),
    };
  } catch {
    return undefined;
  }
}
