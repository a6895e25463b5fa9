import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { addressProblem, type Networks, selfProblem } from '../../http/address-policy.ts';
import { classifyError, errorDetail } from './classify-error.ts';
import type { ErrorClass } from './error-classes.ts';
import type { Target } from './read-target.ts';
import type { Resolve, Resolved } from './resolve-name.ts';

export type DialTimings = { dnsMs?: number; connectMs?: number; tlsMs?: number };
export type Dialed = { timings: DialTimings; address?: string } & (
  | { ok: true; socket: Socket; address: string }
  | { ok: false; errorClass: ErrorClass; detail: string }
);
export type Dial = {
  done: Promise<Dialed>;
  /** The step that it is at, in words for people. */
  waitsFor(): string;
  /** Closes everything of this dial; the result of `done` means nothing then. */
  cancel(): void;
};
export type DialNeeds = {
  networks: Networks;
  resolve: Resolve;
  secureContext: SecureContext;
  /** For DNS, TCP and TLS together. */
  limitMs: number;
  now: () => number;
  /** Every socket that is open, until the system has closed it. */
  sockets: Set<Socket>;
};

const MAX_ADDRESSES = 64;
const MAX_TRIES = 3;

type State = { waitsFor: string; isCancelled: boolean; socket?: Socket; timings: DialTimings };
type Failure = Extract<Dialed, { ok: false }>;

/** Opens one connection to a target, to an address that passed the policy and to no other. */
export function dial(target: Target, needs: DialNeeds): Dial {
  const state: State = { waitsFor: 'resolving its name', isCancelled: false, timings: {} };
  return {
    done: run(target, state, needs)
      .catch((error) => failure(state, 'connection_failed', detailOf(error)))
      .then((dialed) => hideInside(target, dialed)),
    waitsFor: () => state.waitsFor,
    cancel() {
      state.isCancelled = true;
      state.socket?.destroy();
    },
  };
}

/** Hides the address: the owner of a destination must not learn the addresses of names inside the network. */
function hideInside({ host }: Target, dialed: Dialed): Dialed {
  if (dialed.ok || dialed.errorClass !== 'address_forbidden' || isIP(host) !== 0) return dialed;
  const { address: _, ...rest } = dialed;
  return { ...rest, detail: NAME_LEADS_INSIDE };
}

const NAME_LEADS_INSIDE =
  'leads to an address that webhooks may not reach; MILLRACE_ALLOW_CIDRS can allow networks of your own';

async function run(target: Target, state: State, needs: DialNeeds): Promise<Dialed> {
  const endsAt = needs.now() + needs.limitMs;
  const found = await findAddresses(target, state, needs);
  if (!found.ok) return found;
  const addresses = found.addresses.slice(0, MAX_TRIES);
  let last: Dialed = failure(state, 'connection_failed', 'no address');
  for (const [at, address] of addresses.entries()) {
    if (state.isCancelled) return last;
    // The rest of the time is shared with the addresses that may still have to be tried.
    const limitMs = (endsAt - needs.now()) / (addresses.length - at);
    if (limitMs <= 0) break;
    last = { ...(await connectTo({ address, target, limitMs }, state, needs)), address };
    if (last.ok || !MAY_WORK_ELSEWHERE.has(last.errorClass)) return last;
  }
  return last;
}

const MAY_WORK_ELSEWHERE = new Set<ErrorClass>([
  'connection_refused',
  'connection_reset',
  'connection_failed',
  'timeout',
]);

type Found = Failure | { ok: true; addresses: string[] };

/** Checks every address of the name. One forbidden address refuses them all: the owner of the name may mean it to be used. */
async function findAddresses(target: Target, state: State, needs: DialNeeds): Promise<Found> {
  if (isIP(target.host) !== 0) return checkAddresses([target.host], state, needs);
  const startedAt = needs.now();
  const resolved = await needs.resolve(target.host).catch(unresolved);
  state.timings.dnsMs = needs.now() - startedAt;
  if (!resolved.ok) return failure(state, resolved.errorClass, resolved.detail);
  if (resolved.addresses.length > MAX_ADDRESSES)
    return failure(state, 'dns_failed', `more than ${MAX_ADDRESSES} addresses`);
  return checkAddresses(resolved.addresses, state, needs);
}

function unresolved(reason: unknown): Resolved {
  return { ok: false, errorClass: 'dns_failed', detail: detailOf(reason) };
}

function detailOf(reason: unknown): string {
  return reason instanceof Error ? errorDetail(reason) : String(reason);
}

function checkAddresses(addresses: string[], state: State, { networks }: DialNeeds): Found {
  for (const address of addresses) {
    const problem = problemOf(address, networks);
    if (problem !== undefined) return { ...failure(state, 'address_forbidden', problem), address };
  }
  return { ok: true, addresses };
}

/** Fails closed: the policy reads octal and short forms as addresses too, which the system below reads in its own way. */
function problemOf(address: string, networks: Networks): string | undefined {
  return isIP(address) === 0 ? `must not lead to ${address}` : addressProblem(address, networks);
}

function socketProblem({ localAddress = '', remoteAddress = '' }: Socket, networks: Networks): string | undefined {
  const [from, to] = [plain(localAddress), plain(remoteAddress)];
  if (isIP(from) === 0) return 'must not lead to a connection that is gone';
  return problemOf(to, networks) ?? selfProblem({ from, to }, networks);
}

type Attempt = { address: string; target: Target; limitMs: number };

async function connectTo(attempt: Attempt, state: State, needs: DialNeeds): Promise<Dialed> {
  const { address, target } = attempt;
  const startedAt = needs.now();
  state.waitsFor = 'connecting';
  const raw = connectTcp({ host: address, port: target.port, noDelay: true, autoSelectFamily: false });
  needs.sockets.add(raw);
  raw.once('close', () => needs.sockets.delete(raw));
  state.socket = raw;
  const timer = setTimeout(() => state.socket?.destroy(timeoutError()), attempt.limitMs);
  try {
    await opened(raw, 'connect');
    state.timings.connectMs = needs.now() - startedAt;
    const problem = socketProblem(raw, needs.networks);
    if (problem !== undefined) return refuse(raw, failure(state, 'address_forbidden', problem));
    const socket = target.isTls ? await secure(raw, { target, state }, needs) : raw;
    return { ok: true, socket, address, timings: state.timings };
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const isHandshake = state.waitsFor === 'shaking hands for TLS';
    const late = `still ${state.waitsFor}, not done within ${(attempt.limitMs / 1_000).toFixed(1)} s`;
    const detail = classifyError(error) === 'timeout' ? late : errorDetail(error);
    state.socket.destroy();
    return refuse(raw, failure(state, classifyError(error, isHandshake), detail));
  } finally {
    clearTimeout(timer);
  }
}

/** The certificate is checked against the name of the URL although we connect by address; nothing in the environment can turn that off. */
async function secure(
  raw: Socket,
  { target, state }: { target: Target; state: State },
  needs: DialNeeds,
): Promise<Socket> {
  const startedAt = needs.now();
  state.waitsFor = 'shaking hands for TLS';
  const socket = connectTls({
    socket: raw,
    host: target.host,
    // SNI knows names only.
    ...(isIP(target.host) === 0 && { servername: target.host }),
    secureContext: needs.secureContext,
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
  });
  state.socket = socket;
  await opened(socket, 'secureConnect');
  state.timings.tlsMs = needs.now() - startedAt;
  return socket;
}

/** Settles with the event, or with the error that came instead. The listener for errors stays: a late one must not end the process. */
function opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve());
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('closed')));
  });
}

function refuse(raw: Socket, refusal: Failure): Failure {
  raw.destroy();
  return refusal;
}

function failure({ timings }: State, errorClass: ErrorClass, detail: string): Failure {
  return { ok: false, errorClass, detail, timings };
}

function timeoutError(): Error {
  return Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' });
}

/** A dual-stack socket shows an IPv4 peer as ::ffff:1.2.3.4. */
function plain(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
