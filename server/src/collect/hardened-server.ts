import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export type ServerLimits = { maxConnections: number };

/**
 * An HTTP/1.1 server for the open internet. Node's own timeouts work only as often as it looks at its connections,
 * every 30 s by default: a slow client would hold its socket that long.
 */
export function createHardenedServer(
  limits: ServerLimits,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const server = createServer(
    {
      headersTimeout: 5_000,
      requestTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 65_000,
      maxHeaderSize: 16_384,
      requireHostHeader: true,
      insecureHTTPParser: false,
      noDelay: true,
    },
    handle,
  );
  server.maxConnections = limits.maxConnections;
  return server;
}

/** What Node's parser lets through although two readers could understand it in two ways: request smuggling lives there. */
export function isAmbiguous(request: IncomingMessage): boolean {
  if (request.httpVersionMajor < 1) return true;
  if (request.httpVersionMinor === 0 && request.headers['transfer-encoding'] !== undefined) return true;
  if (request.url?.startsWith('/') !== true && request.url !== '*') return true;
  return countHosts(request.rawHeaders) > 1;
}

function countHosts(rawHeaders: string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts;
}
