import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls';
import { addressProblem, type Networks, selfProblem } from '../../http/address-policy.ts';
import { classifyError, errorDetail } from './classify-error.ts';
import type { ErrorClass } from './error-classes.ts';
import type { Target } from './read-target.ts';
import type { Resolve, Resolved } from '../../http/resolve-name.ts';

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
  /** Sees the TLS socket before its handshake: for looking at certificates that are then refused. */
  peek?(socket: TLSSocket): void;
  /** Every socket that is open, until the system has closed it. */
  sockets: Set<Socket>;
};

const MAX_ADDRESSES = 64;
const MAX_TRIES = 3;

const MAY_WORK_ELSEWHERE = new Set<ErrorClass>([
  'connection_refused',
  'connection_reset',
  'connection_failed',
  'timeout',
]);

type Failure = Extract<Dialed, { ok: false }>;
type Found = Failure | { ok: true; addresses: string[] };

/** Opens one connection to a target, to an address that passed the policy and to no other. */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function dial(target: Target, needs: DialNeeds): Dial {
  const { networks, now, sockets } = needs;
  const timings: DialTimings = {};
  let waitsFor = 'resolving its name';
  let isCancelled = false;
  let current: Socket | undefined;

  async function run(): Promise<Dialed> {
    const endsAt = now() + needs.limitMs;
    const found = await findAddresses();
    if (!found.ok) return found;
    const addresses = found.addresses.slice(0, MAX_TRIES);
    let last: Dialed = failure('connection_failed', 'no address');
    for (const [at, address] of addresses.entries()) {
      if (isCancelled) return last;
      // The rest of the time is shared with the addresses that may still have to be tried.
      const limitMs = (endsAt - now()) / (addresses.length - at);
      if (limitMs <= 0) break;
      last = { ...(await connectTo(address, limitMs)), address };
      if (last.ok || !MAY_WORK_ELSEWHERE.has(last.errorClass)) return last;
    }
    return last;
  }

  /** Checks every address of the name. One forbidden address refuses them all: the owner of the name may mean it to be used. */
  async function findAddresses(): Promise<Found> {
    if (isIP(target.host) !== 0) return checkAddresses([target.host]);
    const startedAt = now();
    const resolved = await needs.resolve(target.host).catch(unresolved);
    timings.dnsMs = now() - startedAt;
    if (!resolved.ok) return failure(resolved.errorClass, resolved.detail);
    if (resolved.addresses.length > MAX_ADDRESSES) return failure('dns_failed', `more than ${MAX_ADDRESSES} addresses`);
    return checkAddresses(resolved.addresses);
  }

  function checkAddresses(addresses: string[]): Found {
    for (const address of addresses) {
      const problem = problemOf(address, networks);
      if (problem !== undefined) return { ...failure('address_forbidden', problem), address };
    }
    return { ok: true, addresses };
  }

  async function connectTo(address: string, limitMs: number): Promise<Dialed> {
    const startedAt = now();
    waitsFor = 'connecting';
    const raw = connectTcp({ host: address, port: target.port, noDelay: true, autoSelectFamily: false });
    sockets.add(raw);
    raw.once('close', () => sockets.delete(raw));
    current = raw;
    const timer = setTimeout(() => current?.destroy(timeoutError()), limitMs);
    try {
      await opened(raw, 'connect');
      timings.connectMs = now() - startedAt;
      const problem = socketProblem(raw, networks);
      if (problem !== undefined) return refuse(raw, 'address_forbidden', problem);
      const socket = target.isTls ? await secure(raw) : raw;
      return { ok: true, socket, address, timings };
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      const isHandshake = waitsFor === 'shaking hands for TLS';
      const late = `still ${waitsFor}, not done within ${(limitMs / 1_000).toFixed(1)} s`;
      const detail = classifyError(error) === 'timeout' ? late : errorDetail(error);
      current.destroy();
      return refuse(raw, classifyError(error, isHandshake), detail);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The certificate is checked against the name of the URL although we connect by address; nothing in the environment can turn that off. */
  async function secure(raw: Socket): Promise<Socket> {
    const startedAt = now();
    waitsFor = 'shaking hands for TLS';
    const socket = connectTls({
      socket: raw,
      host: target.host,
      // SNI knows names only.
      ...(isIP(target.host) === 0 && { servername: target.host }),
      secureContext: needs.secureContext,
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
    });
    current = socket;
    needs.peek?.(socket);
    await opened(socket, 'secureConnect');
    timings.tlsMs = now() - startedAt;
    return socket;
  }

  function refuse(raw: Socket, errorClass: ErrorClass, detail: string): Failure {
    raw.destroy();
    return failure(errorClass, detail);
  }

  function failure(errorClass: ErrorClass, detail: string): Failure {
    return { ok: false, errorClass, detail, timings };
  }

  return {
    done: run()
      .catch((error) => failure('connection_failed', detailOf(error)))
      .then((dialed) => hideInside(target, dialed)),
    waitsFor: () => waitsFor,
    cancel() {
      isCancelled = true;
      current?.destroy();
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

function unresolved(reason: unknown): Resolved {
  return { ok: false, errorClass: 'dns_failed', detail: detailOf(reason) };
}

function detailOf(reason: unknown): string {
  return reason instanceof Error ? errorDetail(reason) : String(reason);
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

/** Settles with the event, or with the error that came instead. The listener for errors stays: a late one must not end the process. */
function opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve());
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('closed')));
  });
}

function timeoutError(): Error {
  return Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' });
}

/** A dual-stack socket shows an IPv4 peer as ::ffff:1.2.3.4. */
function plain(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
