import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { AddressReader } from '../../http/client-address.ts';
import type { AccountAnswer, AccountNeeds, AccountRoute, Visit } from './account-route.ts';
import type { Actor } from '../access/actor.ts';
import { actorIn, bearerOf, type Credentials, type From, identify, type Identity } from '../access/authenticate.ts';
import type { ReadLog } from '../audit/read-log.ts';
import { mustBeOurPage, mustNotBeAnotherSite } from '../access/csrf.ts';
import { type Answer, doOnce, type Once, readOnce } from './idempotency.ts';
import { ApiProblem } from '../problems/problems.ts';
import { openAudit } from './audit-change.ts';
import type { ApiRequest, EngineRequest, Route } from './route.ts';
import { mustHaveRights, mustNotProbe, noteAccountRefusal, noteRead, noteRefusal, shownTo } from './route-rights.ts';
import type { Turn } from './fair-share.ts';
import type { RequestLimit } from './limit-requests.ts';
import type { Shares } from './open-shares.ts';
import { DEVICE_COOKIE } from '../access/device-cookie.ts';
import {
  BROWSER_COOKIE,
  SESSION_COOKIE,
  setBrowserCookie,
  setDeviceCookie,
  setSessionCookie,
  setTicketCookie,
  TICKET_COOKIE,
} from '../access/session-cookie.ts';
import { bodyValidator, queryValidator } from '../problems/validate.ts';

export type AnswerNeeds = AccountNeeds & {
  readAddress: AddressReader;
  shares: Shares;
  requestLimit: RequestLimit;
  reads: ReadLog;
};
type Answering = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

const NO_QUERY = Type.Object({}, { additionalProperties: false });

/** Authenticates, authorizes, validates, then runs the handler in a transaction that sees one workspace. */
export function answerRoute(route: Route, needs: AnswerNeeds): Answering {
  const readBody = route.body === undefined ? () => undefined : bodyValidator(route.body, route.check);
  const readQuery = queryValidator(route.query ?? NO_QUERY);
  return async (request, reply) => {
    const { actor } = await admit(request, needs);
    const params = paramsOf(request);
    const answering = async () => {
      mustHaveRights(actor, route);
      const query = readQuery(request.query);
      const parsed = { actor, params, body: readBody(request.body), query };
      mustNotProbe(actor, route, parsed);
      const key = route.method === 'POST' ? oneHeader(request, 'idempotency-key') : undefined;
      const sent = { method: route.method, path: request.url, body: request.body };
      const once = key === undefined ? undefined : readOnce({ header: key, ...sent }, actor);
      if (route.lines !== undefined)
        return linesOf(route, route.lines(outsideOf(route, parsed, needs), needs), parsed, needs);
      return perform(route, parsed, once, needs);
    };
    const answer = await answering().catch((error: unknown) => {
      noteRefusal(error, actor, route, { params, reads: needs.reads });
      throw error;
    });
    noteRead(actor, route, params, needs);
    if (route.method !== 'GET') needs.changed();
    if (route.changesDefinitions === true) needs.definitionsChanged?.();
    if (answer instanceof Readable) return reply.code(route.status).type(NDJSON).send(answer);
    if (answer.isRepeated) void reply.header('Idempotent-Replayed', 'true');
    return sendText(reply.code(answer.status), answer.text);
  };
}

/** Runs the handler when it is its turn: the workspace's requests take turns, and so do the workspaces. */
async function perform(route: Route, parsed: Parsed, once: Once | undefined, needs: AnswerNeeds): Promise<Answer> {
  const { actor } = parsed;
  using _ = await turnOf(route, actor, needs.shares);
  const outside = outsideOf(route, parsed, needs);
  const toAnswer = (whole: unknown): Answer => {
    const body = shownTo(actor, route, whole);
    return { status: route.status, text: body === undefined ? '' : JSON.stringify(body), isRepeated: false };
  };
  // Safe to repeat: it runs again in place of a stored answer.
  if (route.ask !== undefined) return toAnswer(await route.ask(outside, needs));
  const prepared = await route.prepare?.(outside, needs);
  return await outside.inWorkspace((tx, audit) => {
    const request = { ...parsed, tx, audit, prepared } as ApiRequest<never, never, never>;
    const work = async () => toAnswer(await route.handle?.(request, needs));
    return once === undefined ? work() : doOnce(once, work, tx, needs.keyRing);
  });
}

type Parsed = Omit<ApiRequest, 'tx' | 'audit'>;

function outsideOf(route: Route, parsed: Parsed, needs: AnswerNeeds): EngineRequest<never, never, never> {
  const { actor } = parsed;
  const { store, shares } = needs;
  const transact = route.method === 'GET' ? store.readWorkspace : store.inWorkspace;
  const inWorkspace: EngineRequest['inWorkspace'] = async (work) => {
    using _ = await shares.transact(actor);
    return await transact(actor.workspaceId, (tx) => work(tx, openAudit(tx, actor, needs)));
  };
  return { ...parsed, inWorkspace } as EngineRequest<never, never, never>;
}

const NDJSON = 'application/x-ndjson; charset=utf-8';

/** The first line is read before the answer begins, so that a refusal has a status. The turn lasts until the last line. */
async function linesOf(
  route: Route,
  lines: AsyncIterable<string>,
  { actor }: Parsed,
  { shares }: AnswerNeeds,
): Promise<Readable> {
  async function* inTurn() {
    using _ = await turnOf(route, actor, shares);
    yield* lines;
  }
  const all = inTurn();
  const first = await all.next();
  async function* whole() {
    if (first.done !== true) yield first.value;
    yield* all;
  }
  const readable = Readable.from(whole());
  // A client that leaves before the second line gives the turn back as well.
  readable.once('close', () => void all.return(undefined));
  return readable;
}

function turnOf({ asksDeliver, isCostly }: Route, actor: Actor, shares: Shares): Promise<Turn> | undefined {
  if (asksDeliver === true) return shares.askDeliver(actor);
  return isCostly === true ? shares.ask(actor) : undefined;
}

function mustBeOpenTo(who: Visit['who'], { access, allowsBound = false }: AccountRoute): void {
  if (access === 'user' && who?.kind !== 'user') throw new ApiProblem('not_allowed');
  if (!allowsBound && who?.kind === 'user' && who.boundTo !== undefined) throw new ApiProblem('sso_session');
}

function setCookies(reply: FastifyReply, { session, device, ticket, browser }: AccountAnswer): void {
  if (session !== undefined) setSessionCookie(reply, session);
  if (device !== undefined) setDeviceCookie(reply, device);
  if (ticket !== undefined) setTicketCookie(reply, ticket);
  if (browser !== undefined) setBrowserCookie(reply, browser);
}

export function answerAccountRoute(route: AccountRoute, needs: AnswerNeeds): Answering {
  const readBody = route.body === undefined ? () => undefined : bodyValidator(route.body);
  return async (request, reply) => {
    if (route.access === 'anybody') mustNotBeAnotherSite(request.headers);
    const who = route.access === 'anybody' ? undefined : await identifySender(request, needs);
    const address = addressOf(request, needs);
    const visit: Visit = {
      who,
      bearer: bearerOf(request.headers.authorization),
      address,
      userAgent: userAgentOf(request),
      device: request.cookies[DEVICE_COOKIE],
      ticket: request.cookies[TICKET_COOKIE],
      browser: request.cookies[BROWSER_COOKIE],
      params: paramsOf(request),
      body: undefined,
    };
    const handling = async () => {
      mustBeOpenTo(who, route);
      return route.handle({ ...visit, body: readBody(request.body) } as Visit<never, never, never>, needs);
    };
    const answer = await handling().catch((error: unknown) => {
      noteAccountRefusal(error, { who, address }, route, needs);
      throw error;
    });
    setCookies(reply, answer);
    const { body, isOther = false } = answer;
    const status = isOther && route.other !== undefined ? route.other.status : route.status;
    return sendText(reply.code(status), body === undefined ? '' : JSON.stringify(body));
  };
}

export type Admitted = { identity: Identity; from: From; actor: Actor };

/** Authenticates the sender in the workspace that it names, and counts the request. */
export async function admit(request: FastifyRequest, needs: AnswerNeeds): Promise<Admitted> {
  const from = { workspaceId: oneHeader(request, 'millrace-workspace'), address: addressOf(request, needs) };
  const { bearer, sessionSecret } = credentialsOf(request);
  const sender = hash('sha256', JSON.stringify([bearer, sessionSecret, from.workspaceId]));
  needs.requestLimit.recall(sender);
  const identity = await identifySender(request, needs);
  const actor = await actorIn(identity, from, needs.store);
  needs.requestLimit.take(actor.workspaceId, sender);
  return { identity, from, actor };
}

function credentialsOf({ headers, cookies }: FastifyRequest): Credentials {
  const bearer = bearerOf(headers.authorization);
  return { bearer, sessionSecret: bearer === undefined ? cookies[SESSION_COOKIE] : undefined };
}

async function identifySender(request: FastifyRequest, needs: AnswerNeeds): Promise<Identity> {
  const sender = { address: addressOf(request, needs), userAgent: userAgentOf(request), at: needs.now() };
  const identity = await identify(credentialsOf(request), sender, needs.store);
  if (identity.kind === 'user' && request.method !== 'GET') mustBeOurPage(request.headers);
  return identity;
}

/** PostgreSQL stores no NUL, so no id has one. */
export function paramsOf(request: FastifyRequest): Record<string, string> {
  if (request.url.includes('%00')) throw new ApiProblem('not_found');
  return request.params as Record<string, string>;
}

export function addressOf(request: FastifyRequest, { readAddress }: AnswerNeeds): string {
  return readAddress(request.socket.remoteAddress, oneHeader(request, 'x-forwarded-for'));
}

function userAgentOf({ headers }: FastifyRequest): string {
  return (headers['user-agent'] ?? '').slice(0, 500);
}

export function oneHeader(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}

function sendText(reply: FastifyReply, text: string): FastifyReply {
  return text === '' ? reply.send() : reply.type('application/json; charset=utf-8').send(text);
}
