/**
 * The only way in which control asks the outside: a provider that the owner of a workspace has named. The rules of webhooks hold at
 * every connection: all addresses of the name have to be allowed, the connection goes to one that was checked, redirects are not
 * followed. Time and size of an answer are bounded, and no connection is kept.
 */
import { request as requestHttp } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { addressProblem, type Networks, selfProblem } from '../../http/address-policy.ts';
import type { Resolve } from '../../http/resolve-name.ts';
import { ProviderTrouble } from './provider-trouble.ts';
import { providerUrlProblem } from './provider-url.ts';

/** A part of the Fetch API: as much as the library of OpenID Connect uses. */
export type ProviderAsk = (url: string, options: FetchOptions) => Promise<Response>;
type FetchOptions = {
  method: string;
  headers: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal | undefined;
};

export type FetchNeeds = { networks: Networks; resolve: Resolve; timeoutMs?: number; maxBytes?: number };

const TIMEOUT_MS = 5_000;
/** Key sets of large providers have some ten kilobytes. */
const MAX_BYTES = 262_144;

export function openProviderFetch(needs: FetchNeeds): ProviderAsk {
  const { networks, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = needs;
  return async (text, options) => {
    const problem = providerUrlProblem(text, networks);
    if (problem !== undefined) throw refused(`${shown(text)} ${problem}`);
    const url = new URL(text);
    const life = new AbortController();
    const timer = setTimeout(() => life.abort(), timeoutMs);
    const signal = options.signal === undefined ? life.signal : AbortSignal.any([life.signal, options.signal]);
    try {
      const address = await Promise.race([findAddress(url, needs), whenAborted(signal)]);
      const socket = await openSocket(url, address, { networks, signal });
      return await Promise.race([send(socket, url, { ...options, signal }, maxBytes), whenAborted(signal)]);
    } catch (error) {
      if (error instanceof ProviderTrouble) throw error;
      if (signal.aborted)
        throw new ProviderTrouble('too_slow', `${url.host} did not answer within ${timeoutMs / 1_000} s.`);
      const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
      throw new ProviderTrouble('unreachable', `No answer came from ${url.host} (${code}).`);
    } finally {
      clearTimeout(timer);
    }
  };
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });
}

/** One forbidden address refuses them all: the owner of the name may mean it to be used. */
async function findAddress(url: URL, { networks, resolve }: FetchNeeds): Promise<string> {
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  // `providerUrlProblem` has checked it.
  if (isIP(host) !== 0) return host;
  const resolved = await resolve(host);
  if (!resolved.ok)
    throw new ProviderTrouble('unreachable', `The name ${host} could not be resolved (${resolved.detail}).`);
  const isForbidden = resolved.addresses.some((each) => addressProblem(each, networks) !== undefined);
  // Without the address: an owner of a workspace must not learn the addresses of names inside the network.
  if (isForbidden) throw refused(`${host} leads to an address that is not public; MILLRACE_ALLOW_CIDRS can allow it`);
  const [address] = resolved.addresses;
  if (address === undefined) throw new ProviderTrouble('unreachable', `The name ${host} has no address.`);
  return address;
}

type Opening = { networks: Networks; signal: AbortSignal };

/** Checks the open connection once more, before anything is sent. */
async function openSocket(url: URL, address: string, { networks, signal }: Opening): Promise<Socket> {
  const isTls = url.protocol === 'https:';
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port);
  const raw = connectTcp({ host: address, port, autoSelectFamily: false });
  const stop = () => void raw.destroy();
  signal.addEventListener('abort', stop, { once: true });
  raw.once('close', () => signal.removeEventListener('abort', stop));
  await opened(raw, 'connect');
  const [from, to] = [plain(raw.localAddress), plain(raw.remoteAddress)];
  if (isIP(from) === 0 || isIP(to) === 0) throw new Error('the connection is gone');
  const problem = addressProblem(to, networks) ?? selfProblem({ from, to }, networks);
  if (problem !== undefined) {
    raw.destroy();
    throw refused(`${url.host} ${problem}`);
  }
  if (!isTls) return raw;
  const name = url.hostname.replace(/^\[|\]$/g, '');
  // The certificate is checked whatever the environment says.
  const servername = isIP(name) === 0 ? { servername: name } : {};
  const secure = connectTls({ socket: raw, host: name, ...servername, rejectUnauthorized: true });
  await opened(secure, 'secureConnect');
  return secure;
}

function opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve());
    // Stays: a late error must not end the process.
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('closed')));
  });
}

function send(socket: Socket, url: URL, options: FetchOptions, maxBytes: number): Promise<Response> {
  const body = bodyOf(options.body);
  const headers = { ...options.headers, host: url.host, connection: 'close' };
  const answered = new Promise<Answered>((resolve, reject) => {
    const request = requestHttp({
      createConnection: () => socket,
      method: options.method,
      path: url.pathname + url.search,
      headers: body === undefined ? headers : { ...headers, 'content-length': String(body.length) },
      ...(options.signal && { signal: options.signal }),
    });
    // Stay: a second error must not end the process.
    request.on('error', reject);
    // Without a listener Node ends the request and reports nothing.
    request.once('upgrade', () => reject(new Error('status 101')));
    request.once('response', (answer) => {
      const pieces: Buffer[] = [];
      let size = 0;
      answer.on('data', (piece: Buffer) => {
        size += piece.length;
        pieces.push(piece);
        if (size <= maxBytes) return;
        reject(new ProviderTrouble('answer_too_large', `${url.host} answered with more than ${maxBytes / 1_024} KiB.`));
        socket.destroy();
      });
      answer.on('error', reject);
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, sent: answer.headers, pieces }));
    });
    request.end(body);
  });
  // Outside of the event: an error that a listener throws would end the process.
  return answered.then(toResponse).finally(() => socket.destroy());
}

type Answered = { status: number; sent: NodeJS.Dict<string | string[]>; pieces: Buffer[] };

function bodyOf(body: unknown): Buffer | undefined {
  if (body === undefined || body === null) return undefined;
  if (body instanceof URLSearchParams || typeof body === 'string') return Buffer.from(body.toString());
  throw new Error('a body of this kind is not sent to a provider');
}

function toResponse({ status, sent, pieces }: Answered): Response {
  if (status < 200 || status > 599) throw new Error(`status ${status}`);
  const headers = new Headers();
  for (const [name, value] of Object.entries(sent)) {
    for (const each of [value ?? []].flat()) headers.append(name, each);
  }
  const isEmpty = [204, 205, 304].includes(status);
  return new Response(isEmpty ? null : new Uint8Array(Buffer.concat(pieces)), { status, headers });
}

function refused(why: string): ProviderTrouble {
  return new ProviderTrouble('address_refused', `The provider is not asked: ${why}.`);
}

/** Without the query, which may hold something personal. */
function shown(text: string): string {
  const url = URL.parse(text);
  return url === null ? 'the address' : url.origin + url.pathname;
}

/** A dual-stack socket shows an IPv4 peer as ::ffff:1.2.3.4. */
function plain(address = ''): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
