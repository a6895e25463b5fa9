import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { StoreUnavailable, type Tx } from '../../store/open-store.ts';
import { sessionStands } from '../../store/sessions.ts';
import { findToken } from '../../store/tokens.ts';
import { mustBeAllowed } from '../access/actor.ts';
import { addressOf, type AnswerNeeds, identifySender, oneHeader, paramsOf } from './answer-route.ts';
import { actorIn, type From, type Identity, withRoleNow } from '../access/authenticate.ts';
import { ApiProblem } from '../problems/problems.ts';
import { type OpenTail, shareTails } from './share-tails.ts';
import type { StreamEvent, StreamRoute, Watching } from './stream-route.ts';
import { queryValidator } from '../problems/validate.ts';

export type Streams = {
  answer(route: StreamRoute): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
  count(): number;
  endAll(): void;
};

type End = (code: string) => void;
type OpenStream = OpenTail & { end: End };
/** The oldest first. */
type State = { needs: AnswerNeeds; open: Set<OpenStream> };

/** How soon somebody who may not look on any more stops seeing. */
const CHECK_EVERY_MS = 5_000;
/** Proxies close what is silent for a minute. */
const HEARTBEAT_MS = 15_000;
/** Somebody with so much unread does not get more. */
const MAX_UNREAD_BYTES = 1_048_576;

/** The endpoints that go on answering: the same questions at the door as everywhere, asked again while it is open. */
export function openStreams(needs: AnswerNeeds): Streams {
  const state: State = { needs, open: new Set() };
  return {
    count: () => state.open.size,
    endAll() {
      for (const { end } of state.open) end('shutting_down');
    },
    answer(route) {
      const readQuery = queryValidator(route.query);
      return async (request, reply) => {
        const from = { workspaceId: oneHeader(request, 'millrace-workspace'), address: addressOf(request, needs) };
        const identity = await identifySender(request, needs);
        const actor = await actorIn(identity, from, needs.store);
        mustBeAllowed(actor, route.permission);
        const watching = { actor, params: paramsOf(request), query: readQuery(request.query) } as Watching<
          never,
          never
        >;
        await route.check(watching, needs);
        const share = shareTails([...state.open], tailOf(watching));
        if (share.kind === 'refuse') throw new ApiProblem('too_many_streams');
        if (share.kind === 'give') share.from.end('too_many_streams');
        void reply.hijack();
        stream(state, { route, watching, identity, from, reply });
        return reply;
      };
    },
  };
}

type Opened = {
  route: StreamRoute;
  watching: Watching<never, never>;
  identity: Identity;
  from: From;
  reply: FastifyReply;
};

function stream({ needs, open }: State, opened: Opened): void {
  const { route, watching, reply } = opened;
  const { raw } = reply;
  const { write, heartbeat } = writer(raw);
  // Without these a proxy may keep events back.
  const headers = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };
  raw.writeHead(route.status, { ...(reply.getHeaders() as Record<string, string>), ...headers });
  raw.socket?.setNoDelay(true);
  using starting = new DisposableStack();
  starting.use(route.open(watching, write, needs));
  const checking = setInterval(() => {
    heartbeat();
    void mustStillBeAllowed(opened, needs).catch((error: unknown) => {
      // While the database is away nobody can take rights from anybody: who looks on may go on.
      if (!(error instanceof StoreUnavailable)) end(error instanceof ApiProblem ? error.code : 'internal');
    });
  }, CHECK_EVERY_MS);
  starting.defer(() => clearInterval(checking));
  const running = starting.move();
  const end: End = (code) => {
    if (raw.writable) write({ kind: 'end', code });
    raw.end();
    stop();
  };
  const entry = { ...tailOf(watching), end };
  const stop = () => {
    open.delete(entry);
    running.dispose();
  };
  open.add(entry);
  raw.once('close', stop);
}

/** A user has as many as a token has, in however many sessions. */
function tailOf({ actor: { workspaceId, id: actorId, role } }: Watching): OpenTail {
  return { workspaceId, actorId, role };
}

function writer(raw: ServerResponse) {
  let saidAt = performance.now();
  return {
    write(event: StreamEvent): boolean {
      if (raw.writableLength > MAX_UNREAD_BYTES) return false;
      saidAt = performance.now();
      raw.write(`event: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`);
      return true;
    },
    heartbeat(): void {
      if (performance.now() - saidAt < HEARTBEAT_MS - CHECK_EVERY_MS / 2) return;
      saidAt = performance.now();
      raw.write(': still here\n\n');
    },
  };
}

/** Does not count as a use: a forgotten window must not keep a session alive. */
async function mustStillBeAllowed({ route, watching, identity, from }: Opened, needs: AnswerNeeds): Promise<void> {
  const stands = await needs.store.asSystem((tx) => lookAgain(tx, identity));
  if (stands === undefined) throw new ApiProblem('not_signed_in');
  const { workspaceId } = watching.actor;
  mustBeAllowed(await actorIn(stands, { ...from, workspaceId }, needs.store), route.permission);
  await route.check(watching, needs);
}

async function lookAgain(tx: Tx, identity: Identity): Promise<Identity | undefined> {
  if (identity.kind === 'user') return (await sessionStands(tx, identity.sessionId)) ? identity : undefined;
  const { workspace_id: workspaceId, id } = identity.token;
  const token = await withRoleNow(tx, await findToken(tx, workspaceId, id));
  return token === undefined ? undefined : { kind: 'token', token };
}
