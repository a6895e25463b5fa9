/** A control server, OpenID providers in processes of their own, and people who sign in there. */
import assert from 'node:assert/strict';
import { readNetworks } from '../src/http/address-policy.ts';
import { hashPassword } from '../src/control/access/password.ts';
import type { RoleName } from '../src/control/access/permissions.ts';
import { openProviders } from '../src/control/sso/open-providers.ts';
import { addressesOf } from '../src/control/sso/single-sign-on.ts';
import { addMember, addToken, addWorkspace, startTestControl, type TestAnswer } from './control.ts';
import { signInAt, startOidcProvider, type TestProvider } from './oidc-provider.ts';

export const CONSOLE = 'https://millrace.example.com';
export const PASSWORD = 'correct horse battery';
export const OUR_PAGE = { 'Sec-Fetch-Site': 'same-origin', 'Millrace-Csrf': '1' };
const LOOPBACK = '127.0.0.0/8';

export type SsoBed = Awaited<ReturnType<typeof openSsoBed>>;
export type Shop = Awaited<ReturnType<SsoBed['openShop']>>;
type ClientKeeper = Pick<TestProvider, 'issuer' | 'setClients'>;
type Begun = { url: string; cookie: string };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export async function openSsoBed() {
  await using opening = new AsyncDisposableStack();
  const provider = opening.use(await startOidcProvider());
  let txt: Record<string, string[]> = {};
  let clock = () => new Date();
  const control = opening.use(
    await startTestControl({
      allowed: LOOPBACK,
      trustedProxies: [LOOPBACK],
      mail: { consoleUrl: CONSOLE },
      singleSignOn: {
        consoleUrl: CONSOLE,
        providers: openProviders({ networks: readNetworks(LOOPBACK), now: () => clock(), timeoutMs: 2_000 }),
        readTxt: async (name) => txt[name] ?? [],
      },
    }),
  );
  const { store } = control;
  const passwordHash = await hashPassword(PASSWORD);
  let people = 0;
  let asked = 0;
  const ask = (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const from = { 'X-Forwarded-For': `203.0.113.${(asked += 1) % 256}` };
    return control.ask(method, `/api/v1${path}`, { ...(body && { body }), headers: { ...from, ...headers } });
  };
  const begin = async (body: object): Promise<Begun> => {
    const answer = await ask('POST', '/session/single-sign-on', body);
    assert.equal(answer.status, 201, answer.text);
    return { url: String(answer.body['url']), cookie: cookieIn(answer, '__Host-millrace-sso') };
  };
  const finish = (workspaceId: string, at: URL, cookie: string) =>
    ask('POST', '/session/single-sign-on/finish', { workspaceId, query: at.search.slice(1) }, { Cookie: cookie });
  const open = opening.move();
  return {
    control,
    provider,
    ask,
    begin,
    finish,
    setTxt: (records: Record<string, string[]>) => void (txt = records),
    setClock: (now: () => Date) => void (clock = now),
    /** The whole way, as a person goes it. */
    async signIn(workspaceId: string, subject: string): Promise<TestAnswer> {
      const { url, cookie } = await begin({ workspaceId });
      return finish(workspaceId, await signInAt(url, subject), cookie);
    },
    /** A workspace that is connected to the provider, with an owner who has a password. */
    async openShop(settings: object = {}, at: ClientKeeper = provider) {
      const nth = (people += 1);
      const workspaceId = await addWorkspace(store, 'Shop');
      const owner = await addToken(store, workspaceId, { role: 'owner' });
      const email = `owner${nth}@example.com`;
      const ownerId = await addMember(store, workspaceId, { email, passwordHash, role: 'owner' });
      const { redirectUri, signedOutUri } = addressesOf({ consoleUrl: CONSOLE }, workspaceId);
      const client = {
        id: `client${nth}`,
        secret: `secret${nth}`,
        redirectUris: [redirectUri],
        signedOutUris: [signedOutUri],
      };
      await at.setClients([...(clientsOf.get(at) ?? []), client]);
      clientsOf.set(at, [...(clientsOf.get(at) ?? []), client]);
      const body = {
        issuer: at.issuer,
        clientId: client.id,
        clientSecret: client.secret,
        defaultRole: 'viewer',
        ...settings,
      };
      const made = await control.ask('POST', '/api/v1/single-sign-on', { token: owner, body });
      assert.equal(made.status, 201, made.text);
      return { workspaceId, owner, ownerId, email, clientId: client.id, clientSecret: client.secret };
    },
    /** A member with a password. */
    async addPerson(workspaceId: string, role: RoleName = 'viewer') {
      const email = `person${(people += 1)}@example.com`;
      return { email, userId: await addMember(store, workspaceId, { email, passwordHash, role }) };
    },
    async signInWithPassword(email: string) {
      const answer = await ask('POST', '/session', { email, password: PASSWORD });
      assert.equal(answer.status, 204, answer.text);
      return { ...OUR_PAGE, Cookie: cookieIn(answer, '__Host-millrace') };
    },
    change: ({ owner }: { owner: string }, body: object) =>
      control.ask('PATCH', '/api/v1/single-sign-on', { token: owner, body }),
    async actions({ owner }: { owner: string }): Promise<string[]> {
      const { body } = await control.ask('GET', '/api/v1/audit-log?limit=100', { token: owner });
      return (body['items'] as { action: string }[]).map(({ action }) => action);
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

const clientsOf = new Map<ClientKeeper, Parameters<TestProvider['setClients']>[0]>();

export function cookieIn({ headers, text }: TestAnswer, name: string): string {
  const cookie = headers.getSetCookie().find((each) => each.startsWith(`${name}=`));
  return cookie?.split(';')[0] ?? assert.fail(`no cookie ${name}: ${text}`);
}

/** The session of an answer, as headers of our pages. */
export function sessionIn(answer: TestAnswer): Record<string, string> {
  assert.equal(answer.status, 200, answer.text);
  return { ...OUR_PAGE, Cookie: cookieIn(answer, '__Host-millrace') };
}

/** The reason of a refusal. */
export function why(answer: TestAnswer): string {
  const errors = answer.body['errors'] as { path: string }[] | undefined;
  const [error] = errors ?? [];
  const code = String(answer.body['code']);
  return error === undefined ? code : `${code} ${error.path.split('/').at(-1)}`;
}
