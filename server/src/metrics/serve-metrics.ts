import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createHardenedServer, isAmbiguous } from '../http/hardened-server.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from './open-metrics.ts';

export type MetricsSettings = { host: string; port: number };

export type Readiness = {
  /** Empty when ready. */
  reasons: string[];
  /** The parts that do not work in a process that is ready; /readyz tells them beside `ready`. */
  missing: string[];
};

export type MetricsNeeds = {
  settings: MetricsSettings;
  metrics: Pick<Metrics, 'text' | 'contentType'>;
  look(): Readiness | Promise<Readiness>;
  log: Logger;
};

export type MetricsServer = AsyncDisposable & { port: number | undefined };

const MAX_CONNECTIONS = 100;

/** `/metrics`, `/healthz` and `/readyz` of the process. If the port is taken, it logs that and goes on: metrics are optional. */
export async function serveMetrics(needs: MetricsNeeds): Promise<MetricsServer> {
  const { settings, log } = needs;
  const server = createHardenedServer({ maxConnections: MAX_CONNECTIONS }, (request, response) => {
    const isReading = (request.method === 'GET' || request.method === 'HEAD') && !isAmbiguous(request);
    void answer(isReading ? (request.url ?? '') : '', response, needs);
  });
  server.listen(settings);
  try {
    await once(server, 'listening');
  } catch (error) {
    log.error({ ...settings, error: error instanceof Error ? error.message : String(error) }, 'metrics.not_listening');
    return { port: undefined, [Symbol.asyncDispose]: async () => undefined };
  }
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : settings.port;
  log.info({ host: settings.host, port }, 'metrics.listening');
  return {
    port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(url: string, response: ServerResponse, needs: MetricsNeeds): Promise<void> {
  const { status, type, text } = await answerTo(url.split('?')[0] ?? '', needs);
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) }).end(text);
}

async function answerTo(path: string, needs: MetricsNeeds): Promise<{ status: number; type: string; text: string }> {
  const { metrics, look, log } = needs;
  switch (path) {
    case '/metrics':
      try {
        return { status: 200, type: metrics.contentType, text: await metrics.text() };
      } catch (error) {
        log.error({ error: error instanceof Error ? error.stack : String(error) }, 'metrics.failed');
        return json(500, { status: 'failed' });
      }
    case '/healthz':
      return json(200, { status: 'alive' });
    case '/readyz': {
      const { reasons, missing } = await look();
      if (reasons.length > 0) return json(503, { status: 'not ready', reasons });
      return json(200, missing.length === 0 ? { status: 'ready' } : { status: 'ready', missing });
    }
    default:
      return json(404, { status: 'not found' });
  }
}

function json(status: number, value: object) {
  return { status, type: 'application/json', text: JSON.stringify(value) };
}
