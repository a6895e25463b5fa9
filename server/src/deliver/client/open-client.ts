import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import type { UrlCheck } from '@millrace/contract/control';
import type { Networks } from '../../http/address-policy.ts';
import { checkUrl } from './check-url.ts';
import { openDeadlines } from './deadlines.ts';
import type { DialNeeds } from './dial.ts';
import { type ErrorClass, sentence } from './error-classes.ts';
import { openGrowth } from './grow.ts';
import { openIdle } from './idle.ts';
import { openPacer } from './pace.ts';
import { openPools } from './pools.ts';
import type { Pool, Sending } from './model.ts';
import { openTargetReader, type Target } from './read-target.ts';
import { openResolver, type Resolve } from '../../http/resolve-name.ts';
import {
  admitDial,
  askForMore,
  assignConnection,
  drop,
  letGo,
  settleError,
  timeOut,
  type Traffic,
} from './assign-connection.ts';
import { newSending } from './sending.ts';
import type { Answer, Post } from './post.ts';

export type Client = AsyncDisposable & {
  /** Never rejects. */
  post(post: Post): Promise<Answer>;
  /** Whether a URL can be used, step by step. Connects and sends nothing. Never rejects. */
  check(url: string): Promise<UrlCheck>;
  stats(): { inFlight: number; pools: number; sockets: number };
};

export type ClientNeeds = {
  networks: Networks;
  /** From the call to the end of the response's head, all waiting included. */
  timeoutMs?: number;
  /** With TLS; five times as many without. */
  maxNewConnectionsPerSecond?: number;
  maxConnectionsPerOrigin?: number;
  /** Over all origins: an idle TLS connection takes a tenth of a megabyte. */
  maxIdleConnections?: number;
  idlePoolMs?: number;
  resolve?: Resolve;
  /** Trusted besides the public ones, in PEM. For tests. */
  certificateAuthorities?: string;
};

/**
 * The only way out of the server: POSTs to webhooks, and a GET for the proof of a host, over connections to addresses that the policy allows. No redirects, no
 * decoding, one POST at most once (see `isStale` for the exception), one deadline for everything.
 */
export function openClient(needs: ClientNeeds): Client {
  const readTarget = openTargetReader(needs.networks);
  const sockets = new Set<Socket>();
  const traffic = openTraffic(needs, sockets);
  let isStopped = false;
  return {
    post(post) {
      const target = readTarget(post.url);
      const problem = isStopped ? ({ errorClass: 'stopped', detail: '' } as const) : target.problem;
      if (problem !== undefined) return Promise.resolve(refusal(target, problem));
      return new Promise((resolve) => start(traffic, { post, target, resolve }));
    },
    check: (url) => checkUrl(readTarget(url), { dialNeeds: traffic.dialNeeds, limitMs: traffic.timeoutMs }),
    stats: () => ({ inFlight: traffic.deadlines.size(), pools: traffic.pools.size(), sockets: sockets.size }),
    async [Symbol.asyncDispose]() {
      isStopped = true;
      await stop(traffic, sockets);
    },
  };
}

/** Without a TLS handshake, a new connection takes a fifth of the CPU time: 0.4 ms instead of 2. */
const PLAIN_COST = 0.2;

type Started = Pick<Sending, 'post' | 'target' | 'resolve'>;

function start(traffic: Traffic, { post, target, resolve }: Started): void {
  const pool = traffic.pools.find(post.workspaceId, target.origin);
  if (pool.open === 0) pool.standing = post.standing ?? 'unknown';
  const sending = newSending({ post, target, pool, startedAt: traffic.now(), resolve });
  pool.unanswered += 1;
  traffic.deadlines.add(sending);
  assignConnection(traffic, sending);
}

function refusal({ host, port }: Target, problem: { errorClass: ErrorClass; detail: string }): Answer {
  const message = sentence(problem.errorClass, { ...problem, host, port });
  return { kind: 'error', errorClass: problem.errorClass, message, timings: { totalMs: 0 } };
}

function openTraffic(needs: ClientNeeds, sockets: Set<Socket>): Traffic {
  const timeoutMs = needs.timeoutMs ?? 5_000;
  const now = () => performance.now();
  const dialNeeds: DialNeeds = {
    networks: needs.networks,
    resolve: needs.resolve ?? openResolver(),
    secureContext: openSecureContext(needs.certificateAuthorities),
    // The rest is for the request itself.
    limitMs: timeoutMs * 0.6,
    now,
    sockets,
  };
  const traffic: Traffic = {
    pools: openPools(),
    pacer: openPacer<Pool>({
      perSecond: needs.maxNewConnectionsPerSecond ?? 300,
      now,
      admit: (pool) => admitDial(traffic, pool),
      cost: ({ origin }) => (origin.startsWith('https:') ? 1 : PLAIN_COST),
    }),
    growth: openGrowth((pool, most) => askForMore(traffic, pool, most)),
    dialNeeds,
    deadlines: openDeadlines({ timeoutMs, now, onTimeout: (sending) => timeOut(traffic, sending) }),
    idle: openIdle(needs.maxIdleConnections ?? 2_000, drop),
    timeoutMs,
    keepAliveMs: needs.idlePoolMs ?? 30_000,
    maxConnectionsPerOrigin: needs.maxConnectionsPerOrigin ?? 128,
    now,
  };
  return traffic;
}

/** One for all connections: reading the root certificates is most of what a TLS connection costs. */
function openSecureContext(extra: string | undefined): SecureContext {
  const ca = extra === undefined ? {} : { ca: [...getCACertificates('default'), extra] };
  // With TLS 1.2 a receiver could renegotiate keys without end.
  return createSecureContext({ minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_RENEGOTIATION, ...ca });
}

const STOP_MS = 1_000;

async function stop(traffic: Traffic, sockets: Set<Socket>): Promise<void> {
  traffic.pacer.stop();
  traffic.growth.stop();
  traffic.deadlines.stop();
  for (let sending = traffic.deadlines.first(); sending !== undefined; sending = traffic.deadlines.first()) {
    settleError(traffic, sending, sending.stage === 'sent' ? 'stopped' : 'not_sent', 'it was stopped');
    letGo(traffic, sending);
  }
  for (const { socket } of traffic.idle.all()) socket.destroy();
  const closed = [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve).destroy()));
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, STOP_MS);
  await Promise.race([Promise.all(closed), promise]);
  clearTimeout(timer);
}
