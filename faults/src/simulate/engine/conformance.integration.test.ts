import { after, before, suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { openLog } from '../../../../server/src/log.ts';
import { connectNats } from '../../../../server/src/stream/nats/connect-nats.ts';
import { ensureLayout } from '../../../../server/src/stream/prepare/ensure-layout.ts';
import { STREAMS } from '../world.ts';
import { FACTS } from './conformance.ts';
import { type Client, openClient } from './fact-client.ts';

const log = openLog({ level: 'silent', pretty: false });

suite('a real engine shares the facts of the model:', () => {
  const open = new AsyncDisposableStack();
  let client: Client;
  before(async () => {
    const cluster = open.use(await startNatsCluster({ nodes: 1 }));
    const connection = open.use(await connectNats({ url: cluster.adminUrl, name: 'conformance', log }));
    await ensureLayout(connection, { ...STREAMS, replicas: 1 });
    client = await openClient(connection);
  });
  after(() => open.disposeAsync());
  for (const { name, holds } of FACTS) test(name, () => holds(client));
});
