/** A receiver written with the helpers of @millrace/node: `receive.ts <package>`, with WEBHOOK_SECRET and PORT. */
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

type Package = {
  receiveWebhooks(options: { secret: string; onEvent(event: { type: string }, id: string): void }): RequestListener;
};

const [directory = ''] = process.argv.slice(2);
const { WEBHOOK_SECRET: secret = '', PORT: port = '0' } = process.env;
const { receiveWebhooks } = (await import(pathToFileURL(join(directory, 'dist/index.js')).href)) as Package;
const server = createServer(receiveWebhooks({ secret, onEvent: ({ type }, id) => console.log(`${id} ${type}`) }));
server.listen(Number(port), '127.0.0.1', () => {
  const address = server.address();
  console.log(`listening on ${typeof address === 'object' ? address?.port : address}`);
});
