/** A control server for tests of second factors: its clock can be moved by steps of codes, and browsers keep their cookies. */
import assert from 'node:assert/strict';
import type { AuditEntry as EntrySchema, NewTotp, PasskeyAdded } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { hashPassword } from '../src/control/access/password.ts';
import { codeOf, stepAt } from '../src/control/factors/totp.ts';
import { mailPlace } from '../src/control/mail/add-mail.ts';
import type { RoleName } from '../src/control/access/permissions.ts';
import { serveControl } from '../src/control/serve-control.ts';
import { addMember, addToken, addWorkspace, startTestControl, type TestAnswer } from './control.ts';
import { openSoftPasskey } from './soft-passkey.ts';

export const CONSOLE = 'https://millrace.example.com';
export const SITE = { rpId: 'millrace.example.com', origin: CONSOLE };
export const PASSWORD = 'correct horse battery';
const OUR_PAGE = { 'Sec-Fetch-Site': 'same-origin', 'Millrace-Csrf': '1' };
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

type Entry = Static<typeof EntrySchema>;
export type FactorBed = Awaited<ReturnType<typeof openFactorBed>>;
export type Person = { email: string; workspaceId: string; userId: string; owner: string };
export type TestBrowser = ReturnType<FactorBed['openBrowser']>;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export async function openFactorBed() {
  await using opening = new AsyncDisposableStack();
  let aheadMs = 0;
  const now = () => new Date(Date.now() + aheadMs);
  const proxies = { trustedProxies: ['127.0.0.0/8'] };
  const control = opening.use(
    await startTestControl({ mail: { consoleUrl: CONSOLE }, consoleUrl: CONSOLE, now, ...proxies }),
  );
  const { store, keyRing } = control.needs;
  const passwordHash = await hashPassword(PASSWORD);
  let made = 0;
  const open = opening.move();

  /** From an address of its own, as each person sits in another place. */
  const openBrowser = (userAgent = FIREFOX, url = control.url) => {
    const cookies = new Map<string, string>();
    const address = `203.0.${Math.floor((made += 1) / 250)}.${made % 250}`;
    const ask = async (method: string, path: string, body?: unknown): Promise<TestAnswer> => {
      const answer = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: {
          ...OUR_PAGE,
          'User-Agent': userAgent,
          'X-Forwarded-For': address,
          Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      for (const cookie of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        if (value === '') cookies.delete(name);
        else cookies.set(name, value);
      }
      const text = await answer.text();
      return { status: answer.status, headers: answer.headers, text, body: text === '' ? {} : JSON.parse(text) };
    };
    const givePassword = (email: string, password = PASSWORD) => ask('POST', '/session', { email, password });
    return { ask, cookies, givePassword };
  };

  return {
    control,
    openBrowser,
    now,
    /** The clock of control goes ahead to the next code. */
    nextStep: () => void (aheadMs += 30_000),
    /** Another control process on the same database, with memory of its own. */
    async serveAgain() {
      const settings = { host: '127.0.0.1', port: 0, maxConnections: 100, ...proxies };
      const server = await serveControl(settings, control.needs);
      return { ...server, url: `http://127.0.0.1:${server.port}` };
    },
    sql: <Row extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
      store.asSystem((tx) => tx.query<Row>(text, values)),
    async addPerson(role: RoleName = 'viewer', workspace?: string) {
      const email = `person${(made += 1)}@example.com`;
      const workspaceId = workspace ?? (await addWorkspace(store, 'Shop'));
      const userId = await addMember(store, workspaceId, { email, passwordHash, role });
      return { email, workspaceId, userId, owner: await addToken(store, workspaceId, { role: 'owner' }) };
    },
    /** Subjects of the mails to a person, the newest last. */
    async subjects(email: string): Promise<string[]> {
      type Row = { id: string; content_sealed: Buffer };
      const rows = await store.asSystem((tx) =>
        tx.query<Row>(`SELECT id, content_sealed FROM mails WHERE workspace_id = '' ORDER BY id`),
      );
      const mails = rows.map(
        ({ id, content_sealed }) =>
          JSON.parse(keyRing.open(content_sealed, mailPlace('', id))) as { to: string; subject: string },
      );
      return mails.filter(({ to }) => to === email).map(({ subject }) => subject);
    },
    async entries({ owner, userId }: Person, action: string): Promise<Entry[]> {
      const { body } = await control.ask('GET', '/api/v1/audit-log?limit=100', { token: owner });
      return (body['items'] as Entry[]).filter((entry) => entry.objectId === userId && entry.action === action);
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** A browser that is signed in and confirmed, of a person without a factor. */
export async function openConfirmed(bed: FactorBed, { email }: Person): Promise<TestBrowser> {
  const browser = bed.openBrowser();
  must(await browser.givePassword(email), 204);
  must(await browser.ask('POST', '/me/confirm', { password: PASSWORD }), 204);
  return browser;
}

export type App = { seed: Buffer; recoveryCodes: string[]; code(): string };

/** Adds an authenticator app, and moves the clock to a code that is not used yet. */
export async function addApp(bed: FactorBed, browser: TestBrowser): Promise<App> {
  const { secret } = must(await browser.ask('POST', '/me/totp'), 201).body as NewTotp;
  const seed = fromBase32(secret);
  const code = () => codeOf(seed, stepAt(bed.now()));
  const { body } = must(await browser.ask('POST', '/me/totp/confirm', { code: code() }), 200);
  bed.nextStep();
  return { seed, recoveryCodes: (body['recoveryCodes'] ?? []) as string[], code };
}

export async function addPasskey(browser: TestBrowser, name = 'Key') {
  const soft = openSoftPasskey(SITE);
  const options = must(await browser.ask('POST', '/me/passkeys/options'), 200).body;
  const answer = must(await browser.ask('POST', '/me/passkeys', { name, passkey: soft.create(options) }), 201);
  return { soft, added: answer.body as PasskeyAdded };
}

export function must(answer: TestAnswer, status: number): TestAnswer {
  assert.equal(answer.status, status, answer.text);
  return answer;
}

/** Status and code of a refusal. */
export function refusal({ status, body }: TestAnswer): string {
  return `${status} ${String(body['code'])}`;
}

/** In order: of concurrent requests either one may be the first. */
export function statuses(answers: readonly TestAnswer[]): number[] {
  return answers.map(({ status }) => status).toSorted((one, other) => one - other);
}

function fromBase32(text: string): Buffer {
  const bits = text
    .split('')
    .map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
