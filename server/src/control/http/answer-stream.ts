import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { StoreUnavailable, type Tx } from '../../store/open-store.ts';
import { sessionStands } from '../../store/sessions.ts';
import { findToken } from '../../store/tokens.ts';
import type { Actor } from '../access/actor.ts';
import { admit, type AnswerNeeds, paramsOf } from './answer-route.ts';
import { actorIn, type From, type Identity, withRoleNow } from '../access/authenticate.ts';
import { ApiProblem } from '../problems/problems.ts';
import { mustHaveRights, noteRead, noteRefusal } from './route-rights.ts';
import { countBy, MAX_TAILS, type OpenTail, shareTails } from './share-tails.ts';
import type { StreamEvent, StreamRoute, Watching } from './stream-route.ts';
import { queryValidator } from '../problems/validate.ts';

export type Streams = {
  answer(route: StreamRoute): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
  /** Live tails. */
  count(): number;
  /** Streams of other kinds. */
  countOthers(): number;
  /** Live tails. */
  byWorkspace(): Map<string, number>;
  endAll(): void;
};

type OpenStream = OpenTail & { route: StreamRoute; end(code: string): void };

/** How soon a viewer who lost the permission stops seeing events. */
const CHECK_EVERY_MS = 5_000;
/** Proxies close a connection that is silent for a minute. */
const HEARTBEAT_MS = 15_000;
/** A viewer with this much unread gets no more events. */
const MAX_UNREAD_BYTES = 1_048_576;

/**
 * The endpoints that go on answering. A stream is authenticated, authorized and validated as every request; while it is open,
 * authorization is checked again every few seconds. It ends when the viewer disconnects, a check fails, another viewer takes its
 * place, or the server stops.
 */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openStreams(needs: AnswerNeeds): Streams {
  /** The oldest first. */
  const open = new Set<OpenStream>();
  const tails = () => [...open].filter(({ route }) => route.mostOpen === undefined);
  const byWorkspace = () => countBy(tails(), ({ workspaceId }) => workspaceId);
  /** Beside the limit of the workspace there are those of a process and of one token or user. */
  const refusal = ({ workspaceId }: Actor, route: StreamRoute, most: number) => {
    const isOver = route.mostOpen === undefined && (byWorkspace().get(workspaceId) ?? 0) >= most;
    const refused = isOver ? needs.limits?.refusal('tails', most, 'too_many_streams') : undefined;
    return refused ?? new ApiProblem('too_many_streams');
  };
  const mostOf = ({ workspaceId }: Actor, { mostOpen }: StreamRoute) =>
    mostOpen ?? needs.limits?.of(workspaceId).tails ?? MAX_TAILS.workspace;
  return {
    count: () => tails().length,
    countOthers: () => open.size - tails().length,
    byWorkspace,
    endAll() {
      for (const { end } of open) end('shutting_down');
    },
    answer(route) {
      const readQuery = queryValidator(route.query);
      return async (request, reply) => {
        const { identity, from, actor } = await admit(request, needs);
        const params = paramsOf(request);
        mustBeOpenTo(actor, route, { params, reads: needs.reads });
        const query = readQuery(request.query);
        const watching = { actor, params, query } as Watching<never, never>;
        await route.check(watching, needs);
        await route.begin?.(watching, needs);
        const most = mostOf(actor, route);
        const alike = [...open].filter((each) => each.route === route);
        const share = shareTails(alike, tailOf(watching), most);
        if (share.kind === 'refuse') throw refusal(actor, route, most);
        if (share.kind === 'give') share.from.end('too_many_streams');
        noteRead(actor, route, params, needs);
        void reply.hijack();
        stream({ route, watching, identity, from, reply }, open, needs);
        return reply;
      };
    },
  };
}

function mustBeOpenTo(actor: Actor, route: StreamRoute, noted: Parameters<typeof noteRefusal>[3]): void {
  try {
    mustHaveRights(actor, route);
  } catch (error) {
    noteRefusal(error, actor, route, noted);
    throw error;
  }
}

type Opened = {
  route: StreamRoute;
  watching: Watching<never, never>;
  identity: Identity;
  from: From;
  reply: FastifyReply;
};

function stream(opened: Opened, open: Set<OpenStream>, needs: AnswerNeeds): void {
  const { route, watching, reply } = opened;
  const { raw } = reply;
  const form = route.form === 'lines' ? LINES : EVENTS;
  const { write, heartbeat } = writer(raw, form);
  // Without these a proxy may buffer events.
  const headers = { 'Content-Type': `${form.type}; charset=utf-8`, 'X-Accel-Buffering': 'no' };
  raw.writeHead(route.status, { ...(reply.getHeaders() as Record<string, string>), ...headers });
  raw.socket?.setNoDelay(true);
  using starting = new DisposableStack();
  const sending = starting.use(route.open(watching, write, needs));
  const checking = setInterval(() => {
    heartbeat();
    void mustStillBeAllowed(opened, needs).catch((error: unknown) => {
      // Permissions cannot change while the database is down: the stream stays open.
      if (!(error instanceof StoreUnavailable)) end(error instanceof ApiProblem ? error.code : 'internal');
    });
  }, CHECK_EVERY_MS);
  starting.defer(() => clearInterval(checking));
  const running = starting.move();
  const end = (code: string) => {
    if (raw.writable) write({ kind: 'end', code });
    raw.end();
    stop();
  };
  const entry = { ...tailOf(watching), route, end };
  const stop = () => {
    open.delete(entry);
    running.dispose();
  };
  open.add(entry);
  raw.once('close', stop);
  void sending.over?.then((code) => {
    if (open.has(entry)) end(code);
  });
}

/** The limit of a user is for all their sessions together. */
function tailOf({ actor: { workspaceId, id: actorId, role } }: Watching): OpenTail {
  return { workspaceId, actorId, role };
}

type Form = { type: string; write(event: StreamEvent): string; heartbeat: string };

const EVENTS: Form = {
  type: 'text/event-stream',
  write: (event) => `event: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`,
  heartbeat: ': still here\n\n',
};
const LINES: Form = {
  type: 'application/x-ndjson',
  write: (event) => `${JSON.stringify(event)}\n`,
  heartbeat: '{"kind":"heartbeat"}\n',
};

function writer(raw: ServerResponse, form: Form) {
  let saidAt = performance.now();
  return {
    write(event: StreamEvent): boolean {
      if (raw.writableLength > MAX_UNREAD_BYTES) return false;
      saidAt = performance.now();
      raw.write(form.write(event));
      return true;
    },
    heartbeat(): void {
      if (performance.now() - saidAt < HEARTBEAT_MS - CHECK_EVERY_MS / 2) return;
      saidAt = performance.now();
      raw.write(form.heartbeat);
    },
  };
}

/** Does not extend the session: a forgotten window must not keep it alive. */
async function mustStillBeAllowed({ route, watching, identity, from }: Opened, needs: AnswerNeeds): Promise<void> {
  const stands = await needs.store.asSystem((tx) => lookAgain(tx, identity));
  if (stands === undefined) throw new ApiProblem('not_signed_in');
  const { workspaceId } = watching.actor;
  mustHaveRights(await actorIn(stands, { ...from, workspaceId }, needs.store), route);
  await route.check(watching, needs);
}

async function lookAgain(tx: Tx, identity: Identity): Promise<Identity | undefined> {
  if (identity.kind === 'user') return (await sessionStands(tx, identity.sessionId)) ? identity : undefined;
  const { workspace_id: workspaceId, id } = identity.token;
  const token = await withRoleNow(tx, await findToken(tx, workspaceId, id));
  return token === undefined ? undefined : { kind: 'token', token };
}
