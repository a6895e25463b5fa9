import { randomUUID } from 'node:crypto';
import cookie from '@fastify/cookie';
import fastify, { type FastifyInstance } from 'fastify';
import { openAddressReader } from '../http/client-address.ts';
import { createHardenedServer, isAmbiguous } from '../http/hardened-server.ts';
import { ACCOUNT_ROUTES, ROUTES, STREAM_ROUTES } from './all-routes.ts';
import { answerProblem } from './problems/answer-problem.ts';
import { openCheckUps } from './endpoints/try/open-check-ups.ts';
import { answerAccountRoute, answerRoute } from './http/answer-route.ts';
import { openStreams } from './http/answer-stream.ts';
import type { ControlNeeds } from './http/control-needs.ts';
import type { ControlSettings } from './control-settings.ts';
import { openFailureLog } from './access/failure-log.ts';
import { openReadLog } from './audit/read-log.ts';
import { openSignInGuard } from './access/guard-sign-in.ts';
import { openTryLimiter } from './access/limit-tries.ts';
import { hashTurns } from './access/password.ts';
import { openRecovery } from './mail/open-recovery.ts';
import { openRequestLimit } from './http/limit-requests.ts';
import { openShares } from './http/open-shares.ts';
import { watchLimits } from './limits/watch-limits.ts';
import { REQUESTS_END_MS } from '../limits/stop-times.ts';
import { ApiProblem } from './problems/problems.ts';
import { readJson } from './http/read-json.ts';
import { SECURITY_HEADERS } from './http/security-headers.ts';
import { serveConsole } from './http/serve-console.ts';

export type ServeSettings = Pick<ControlSettings, 'host' | 'port' | 'maxConnections' | 'trustedProxies' | 'consoleDir'>;

/** Disposing it refuses new connections and waits for the requests under way. */
export type ControlServer = AsyncDisposable & { port: number };

const MAX_BODY_BYTES = 262_144;
/** As long as a request line can be. */
const MAX_PARAM_CHARACTERS = 16_384;

/** Serves the HTTP API for the console and for scripts, from the endpoints as data. */
export async function serveControl(settings: ServeSettings, needs: ControlNeeds): Promise<ControlServer> {
  const app = await makeApp(settings, needs);
  await app.listen({ host: settings.host, port: settings.port }).catch(async (error: unknown) => {
    // The routes have started work that would keep the process alive.
    await app.close();
    throw error;
  });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : settings.port;
  needs.log.info({ host: settings.host, port }, 'control.listening');
  return {
    port,
    async [Symbol.asyncDispose]() {
      const impatient = setTimeout(() => app.server.closeAllConnections(), REQUESTS_END_MS);
      await app.close();
      clearTimeout(impatient);
    },
  };
}

async function makeApp(settings: ServeSettings, needs: ControlNeeds): Promise<FastifyInstance> {
  const { log } = needs;
  const app = fastify({
    serverFactory: (handle) => createHardenedServer({ maxConnections: settings.maxConnections }, handle),
    // The hardened server has answered already.
    clientErrorHandler: () => undefined,
    // For malformed requests, which do not reach the hook below.
    frameworkErrors: (error, request, reply) => {
      void answerProblem(error, request, reply.headers(headersFor(request)), log);
    },
    genReqId: () => randomUUID(),
    bodyLimit: MAX_BODY_BYTES,
    // A messageId or a userId is a part of a path, and may be longer than the 100 characters that the router takes by itself.
    routerOptions: { maxParamLength: MAX_PARAM_CHARACTERS },
    exposeHeadRoutes: false,
  });
  const page = await serveConsole(app, log, settings.consoleDir);
  await app.register(cookie);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    async (_request: unknown, text: string | Buffer) => (text === '' ? undefined : readJson(text.toString())),
  );
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(headersFor(request));
    if (page.build !== undefined) void reply.header('Millrace-Console', page.build);
    if (isAmbiguous(request.raw)) throw new ApiProblem('invalid_request');
  });
  hangUpAfterLastAnswer(app);
  const byStatus = needs.metrics?.counters('millrace_control_requests_total');
  app.addHook('onResponse', async (_request, reply) => byStatus?.(String(reply.statusCode)).add());
  app.setErrorHandler((error, request, reply) => answerProblem(error, request, reply, log));
  app.setNotFoundHandler((request, reply) =>
    page.answers(request, reply) ? reply : answerProblem(new ApiProblem('not_found'), request, reply, log),
  );
  addRoutes(app, settings, needs);
  return app;
}

/** A client that keeps its connection after the answer under way would hold the stop up until patience ends. */
function hangUpAfterLastAnswer(app: FastifyInstance): void {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) void reply.header('Connection', 'close');
  });
}

function headersFor({ id }: { id: string }): Record<string, string> {
  return { ...SECURITY_HEADERS, 'Cache-Control': 'no-store', 'X-Request-Id': id };
}

function addRoutes(app: FastifyInstance, settings: ServeSettings, needs: ControlNeeds): void {
  const shares = openShares();
  const checkUps = openCheckUps({ ...needs, shares });
  app.addHook('preClose', () => checkUps[Symbol.asyncDispose]());
  const logs = openLogs(app, needs);
  const nowMs = () => performance.now();
  const requestLimit = openRequestLimit(needs.limits, nowMs);
  const processUse = { tails: () => streams.byWorkspace(), requests: requestLimit.requests };
  const answering = {
    ...needs,
    shares,
    requestLimit,
    processUse,
    checkUps,
    ...logs,
    tries: openTryLimiter(nowMs),
    guard: openSignInGuard(hashTurns, nowMs),
    readAddress: openAddressReader(settings.trustedProxies),
  };
  for (const route of ROUTES) app.route({ ...toMatch(route), handler: answerRoute(route, answering) });
  for (const route of ACCOUNT_ROUTES) app.route({ ...toMatch(route), handler: answerAccountRoute(route, answering) });
  const streams = openStreams(answering);
  for (const route of STREAM_ROUTES) app.route({ ...toMatch(route), handler: streams.answer(route) });
  app.addHook('preClose', async () => streams.endAll());
  if (needs.limits !== undefined) {
    const watch = watchLimits({ ...needs, limits: needs.limits, process: processUse, transact: needs.store.asSystem });
    app.addHook('onClose', async () => watch[Symbol.dispose]());
  }
  needs.metrics?.gauge('millrace_tail_viewers', streams.count);
  needs.metrics?.gauge('millrace_outcome_readers', streams.countOthers);
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    await needs.store.asSystem((tx) => tx.query('SELECT 1 AS one'));
    return { status: 'ready' };
  });
}

/** They write a moment after the answer, and write the rest when the server stops. */
function openLogs(app: FastifyInstance, needs: ControlNeeds) {
  const logs = { recovery: openRecovery(needs), failures: openFailureLog(needs), reads: openReadLog(needs) };
  for (const log of Object.values(logs)) app.addHook('onClose', () => log[Symbol.asyncDispose]());
  return logs;
}

function toMatch({ method, url }: { method: string; url: string }) {
  return { method, url };
}
