import { once } from 'node:events';
import { createServer } from 'node:http';

/** A receiver that only counts. */
export async function openCounter() {
  const ids = new Set<unknown>();
  const state = { count: 0, lastAt: 0, isRefusing: false };
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      state.count += 1;
      state.lastAt = Date.now();
      ids.add(request.headers['webhook-id']);
      response.writeHead(state.isRefusing ? 400 : 200).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    count: () => state.count,
    distinct: () => ids.size,
    lastAt: () => state.lastAt,
    refuse: (isRefusing: boolean) => void (state.isRefusing = isRefusing),
    reset() {
      state.count = 0;
      ids.clear();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
