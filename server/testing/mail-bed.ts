/** A control server that mails its links through a real mail server, and the people who get them. */
import assert from 'node:assert/strict';
import { hashPassword } from '../src/control/access/password.ts';
import { openMailer } from '../src/control/mail/open-mailer.ts';
import { openSending } from '../src/control/mail/send-mails.ts';
import { openMetrics } from '../src/metrics/open-metrics.ts';
import { addMember, addToken, addWorkspace, startTestControl } from './control.ts';
import { type ReceivedMail, startMailServer } from './mail-server.ts';
import { until } from './until.ts';

export const CONSOLE = 'https://millrace.example.com';
export const PASSWORD = 'correct horse battery';
const OUR_PAGE = { 'Sec-Fetch-Site': 'same-origin', 'Millrace-Csrf': '1' };

export type MailBed = Awaited<ReturnType<typeof openMailBed>>;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export async function openMailBed() {
  await using opening = new AsyncDisposableStack();
  const control = opening.use(
    await startTestControl({ mail: { consoleUrl: CONSOLE }, trustedProxies: ['127.0.0.0/8'] }),
  );
  const server = opening.use(await startMailServer());
  const { store, keyRing, log } = control.needs;
  const smtp = { host: '127.0.0.1', port: server.port, security: 'none', from: 'Millrace <mill@example.com>' } as const;
  const mailer = openMailer(smtp);
  const metrics = openMetrics();
  const sending = openSending({ store, keyRing, mailer, metrics, log }, new AbortController().signal);
  let people = 0;
  let asked = 0;
  /** From an address of its own each time: an address may ask ten times a minute. */
  const ask = (method: string, path: string, body: object, headers: Record<string, string> = {}) => {
    const from = { 'X-Forwarded-For': `203.0.113.${(asked += 1) % 256}` };
    return control.ask(method, `/api/v1${path}`, { body, headers: { ...from, ...headers } });
  };
  const open = opening.move();
  return {
    control,
    server,
    mailer,
    metrics,
    sending,
    sql: <Row extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
      store.asSystem((tx) => tx.query<Row>(text, values)),
    /** A member of a workspace of their own, and a token of its owner. */
    async addPerson() {
      const email = `person${(people += 1)}@example.com`;
      const workspaceId = await addWorkspace(store, 'Shop');
      const passwordHash = await hashPassword(PASSWORD);
      const userId = await addMember(store, workspaceId, { email, passwordHash, role: 'viewer' });
      return { email, workspaceId, userId, owner: await addToken(store, workspaceId, { role: 'owner' }) };
    },
    /** Sends due mails until one to this address is there: links are made after the request was answered. */
    async mailTo(address: string): Promise<ReceivedMail> {
      let mail: ReceivedMail | undefined;
      await until(async () => {
        await sending.sendDue();
        mail = server.take(address);
        return mail !== undefined;
      });
      if (mail === undefined) throw new Error(`there is no mail to ${address}`);
      return mail;
    },
    ask,
    async signIn(email: string, password = PASSWORD) {
      const answer = await ask('POST', '/session', { email, password });
      const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
      return { status: answer.status, headers: { ...OUR_PAGE, Cookie: cookie } };
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** The secret of the only link in the mail, which leads to a page of the console. */
export function tokenIn({ text }: ReceivedMail, page: string): string {
  const [, token] = new RegExp(`${CONSOLE}/${page}#token=(\\S+)`).exec(text) ?? [];
  assert.ok(token !== undefined, text);
  return token;
}
