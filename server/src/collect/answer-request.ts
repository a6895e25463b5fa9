import type { IncomingMessage } from 'node:http';
import { type CallType, MAX_BATCH_BYTES, MAX_CALL_BYTES } from '@millrace/contract';
import { acceptCalls, type AcceptNeeds, refusedEarly } from './accept-calls.ts';
import { type Answer, jsonAnswer, laterAnswer, problemAnswer, uncached } from './answer.ts';
import { type PublicUrl, rudderSourceConfig, segmentSettings } from './browser-settings.ts';
import type { AddressReader } from '../http/client-address.ts';
import { PREFLIGHT } from './cors.ts';
import { isAmbiguous } from '../http/hardened-server.ts';
import { type Keyless, mayHaveKey } from './keyless.ts';
import { PIXEL, pixelCall } from './pixel.ts';
import { type Hold, readBody } from './read-body.ts';
import { type Route, routeOf } from './route-of.ts';

export type RequestNeeds = AcceptNeeds & {
  readAddress: AddressReader;
  keyless: Keyless;
  /** Where browsers reach us, if it is not what they wrote in the Host header. */
  publicUrl: PublicUrl | undefined;
  /** Empty when ready. */
  whyNotReady(): string[];
  /** Bytes of bodies being stored now, and how many may be. */
  held: { bytes: number; readonly maxBytes: number };
};

const AMBIGUOUS = closing(
  jsonAnswer(400, { success: false, code: 'bad_request', message: 'The request can be read in two ways.' }),
);
const NOT_FOUND = jsonAnswer(404, {
  success: false,
  code: 'not_found',
  message: 'No such path. Calls go to /v1/batch, /v1/track, …',
});
/** The memory that a request takes besides its body. */
const REQUEST_BYTES = 4_096;

const DROPPED = jsonAnswer(200, { success: true });

/** Answers any request; throws only when the client went away or for a bug. */
export function answerRequest(request: IncomingMessage, needs: RequestNeeds): Answer | Promise<Answer> {
  if (isAmbiguous(request)) return AMBIGUOUS;
  const url = request.url ?? '/';
  const queryAt = url.indexOf('?');
  const routing = routeOf(queryAt === -1 ? url : url.slice(0, queryAt));
  if (!routing.found) return NOT_FOUND;
  if (request.method === 'OPTIONS') return PREFLIGHT;
  // HEAD asks without effect, and a pixel has one.
  const method = request.method === 'HEAD' && routing.route.kind !== 'pixel' ? 'GET' : request.method;
  if (method !== routing.method) return methodNotAllowed(routing.method);
  const query = queryAt === -1 ? '' : url.slice(queryAt + 1);
  return answerRoute({ request, route: routing.route, query }, needs);
}

type Routed = { request: IncomingMessage; route: Route; query: string };

function answerRoute({ request, route, query }: Routed, needs: RequestNeeds): Answer | Promise<Answer> {
  switch (route.kind) {
    case 'calls':
      return answerCalls(request, route, needs);
    case 'pixel':
      return route.type === undefined ? PIXEL : answerPixel(request, { type: route.type, query }, needs);
    case 'settings':
      return answerSettings(request, route.writeKey, needs);
    case 'source_config':
      return answerSourceConfig(request, query, needs);
    case 'library_metrics':
      return DROPPED;
    case 'alive':
      return jsonAnswer(200, { status: 'alive' });
    case 'ready': {
      const reasons = needs.whyNotReady();
      return reasons.length === 0
        ? jsonAnswer(200, { status: 'ready' })
        : jsonAnswer(503, { status: 'not ready', reasons });
    }
  }
}

type CallsRoute = Extract<Route, { kind: 'calls' }>;

async function answerCalls(request: IncomingMessage, route: CallsRoute, needs: RequestNeeds): Promise<Answer> {
  const { authorization } = request.headers;
  // A client with a wrong key in the header is refused before its body is read.
  const early = refusedEarly(authorization, needs);
  if (early !== undefined) return early;
  const { held, keyless, watch } = needs;
  const isKeyless = needs.keys.byHeader(authorization) === 'none';
  const address = addressOf(request, needs);
  const waitSeconds = isKeyless ? keyless.waitSeconds(address) : 0;
  if (waitSeconds > 0) {
    watch.shed('address_limit');
    return laterAnswer('rate_limited', waitSeconds);
  }
  let mine = REQUEST_BYTES;
  held.bytes += mine;
  const hold = (bytes: number) => {
    mine += bytes;
    held.bytes += bytes;
    return held.bytes <= held.maxBytes;
  };
  try {
    const answer = await answerBody({ request, route, address, isKeyless, hold }, needs);
    if (isKeyless && isRefusal(answer)) keyless.refused(address, answer.status === 413 ? MAX_BATCH_BYTES : mine);
    return answer;
  } finally {
    held.bytes -= mine;
  }
}

type CallsToAnswer = { request: IncomingMessage; route: CallsRoute; address: string; isKeyless: boolean; hold: Hold };

async function answerBody(
  { request, route, address, isKeyless, hold }: CallsToAnswer,
  needs: RequestNeeds,
): Promise<Answer> {
  const { shape, browser } = route;
  const read = await readBody(request, shape === 'batch' ? MAX_BATCH_BYTES : MAX_CALL_BYTES, hold);
  if (!read.ok && read.code === 'unavailable') {
    needs.watch.shed('memory');
    return laterAnswer('unavailable', 2);
  }
  if (!read.ok) return problemAnswer(read.code);
  if (isKeyless && !mayHaveKey(read.body, needs.keys)) return problemAnswer('invalid_write_key');
  const { authorization, origin } = request.headers;
  const isBrowser = browser || origin !== undefined;
  return acceptCalls({ shape, browser: isBrowser, authorization, address, bytes: read.body }, needs);
}

/** A retry of the same request would be refused again. */
function isRefusal({ status }: Answer): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

/** A page cannot read the answer to a pixel, so it is always an image. */
async function answerPixel(
  request: IncomingMessage,
  { type, query }: { type: CallType; query: string },
  needs: RequestNeeds,
): Promise<Answer> {
  const bytes = pixelCall(query);
  const { code } = await acceptCalls(
    { shape: type, browser: true, authorization: undefined, address: addressOf(request, needs), bytes },
    needs,
  );
  return code === undefined ? PIXEL : { ...PIXEL, code };
}

function answerSettings(request: IncomingMessage, writeKey: string, needs: RequestNeeds): Answer {
  const found = needs.keys.byKey(writeKey);
  if (found === undefined) return problemAnswer('invalid_write_key');
  if (!found.source.enabled) return problemAnswer('source_disabled');
  const publicUrl = needs.publicUrl ?? { protocol: 'http', host: request.headers.host ?? '' };
  return uncached(segmentSettings(writeKey, publicUrl));
}

function answerSourceConfig(request: IncomingMessage, query: string, needs: RequestNeeds): Answer {
  const fromHeader = needs.keys.byHeader(request.headers.authorization);
  const isHeaderKey = typeof fromHeader === 'object';
  const found = isHeaderKey ? fromHeader : needs.keys.byKey(new URLSearchParams(query).get('writeKey') ?? '');
  if (found === undefined) return problemAnswer('invalid_write_key');
  if (!found.source.enabled) return problemAnswer('source_disabled');
  const { id, name, workspaceId } = found.source;
  return uncached(rudderSourceConfig({ id, name, workspaceId, writeKey: found.writeKey }, new Date(needs.nowMs())));
}

function addressOf(request: IncomingMessage, { readAddress }: RequestNeeds): string {
  const forwarded = request.headers['x-forwarded-for'];
  return readAddress(request.socket.remoteAddress, Array.isArray(forwarded) ? forwarded.join(',') : forwarded);
}

function methodNotAllowed(method: 'GET' | 'POST'): Answer {
  const message = `This path takes ${method} only.`;
  const answer = jsonAnswer(405, { success: false, code: 'method_not_allowed', message });
  return { ...answer, headers: { ...answer.headers, Allow: `${method}, OPTIONS` } };
}

function closing(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, Connection: 'close' } };
}
