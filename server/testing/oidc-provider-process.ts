/**
 * An OpenID provider of its own: the parent process says by messages who its clients and people are. `node oidc-provider-process.ts MS` runs
 * with a clock that is MS ahead.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Configuration, Provider } from 'oidc-provider';
import { shiftClock } from './shift-clock.ts';

export type ProviderClient = { id: string; secret: string; redirectUris: string[]; signedOutUris: string[] };
/** By their subject. */
export type ProviderPeople = Record<string, Record<string, unknown>>;
export type ProviderOrder = { id: number } & (
  | { kind: 'clients'; clients: ProviderClient[] }
  | { kind: 'people'; people: ProviderPeople }
  | { kind: 'rotate' }
);

shiftClock(Number(process.argv[2] ?? 0));

let clients: ProviderClient[] = [];
let people: ProviderPeople = {};
let keys = [newKey()];
let answer: RequestListener = (_request, response) => void response.writeHead(503).end();

const server = createServer((request, response) => answer(request, response));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  answer = openProvider(issuer);
  process.on('message', (order: ProviderOrder) => {
    if (order.kind === 'clients') clients = order.clients;
    if (order.kind === 'people') people = order.people;
    if (order.kind === 'rotate') keys = [newKey()];
    answer = openProvider(issuer);
    process.send?.({ id: order.id });
  });
  process.on('disconnect', () => process.exit());
  process.send?.({ issuer });
});

/** A new key means a new provider: all instances share the memory with its sessions and codes. */
function openProvider(issuer: string): RequestListener {
  const provider = new Provider(issuer, configuration());
  const handle = provider.callback();
  return (request, response) => {
    if (request.url?.startsWith('/interaction/')) void interact(provider, request, response);
    else void handle(request, response);
  };
}

function configuration(): Configuration {
  return {
    clients: clients.map(({ id, secret, redirectUris, signedOutUris }) => ({
      client_id: id,
      client_secret: secret,
      redirect_uris: redirectUris,
      post_logout_redirect_uris: signedOutUris,
    })),
    jwks: { keys },
    cookies: { keys: ['of the test'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, subject) => ({
      accountId: subject,
      claims: () => ({ ...people[subject], sub: subject }),
    }),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ clientId: oidc.client?.clientId, accountId: oidc.session?.accountId });
      grant.addOIDCScope('openid email profile groups');
      await grant.save();
      return grant;
    },
  };
}

/** A page with one field: the subject of the person. */
async function interact(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<form method="post"><label>Subject <input name="login"></label><button>Sign in</button></form>');
    return;
  }
  let body = '';
  for await (const piece of request) body += String(piece);
  const accountId = new URLSearchParams(body).get('login') ?? '';
  await provider.interactionFinished(request, response, { login: { accountId } });
}

function newKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' };
}
