import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePorts } from '@millrace/engines';
import { openStack } from '../../../server/testing/stack.ts';
import { until } from '../../../server/testing/until.ts';
import { openControl } from './control.ts';
import { isRefusal } from './problems.ts';
import { tailSource, type TailItem } from './tail.ts';

const TOKEN = 'a-bootstrap-token-of-more-than-32-characters';

test('the tail of a source shows its calls, and connects again after a restart of the server', async () => {
  const [port] = await freePorts(1);
  await using stack = await openStack({ MILLRACE_CONTROL_PORT: String(port) });
  const source = await stack.get<{ id: string; writeKeys: { key: string }[] }>('POST', '/sources', { name: 'Shop' });
  const key = source.writeKeys[0]?.key ?? '';
  const server = stack.controlUrl().replace('/api/v1', '');
  const control = openControl({ server, credential: { token: TOKEN }, timeoutMs: 30_000 });
  const life = new AbortController();
  const seen: TailItem[] = [];
  const reading = (async () => {
    for await (const item of tailSource(control, source.id, { type: 'track' }, life.signal)) seen.push(item);
  })();
  const saw = (event: string) => seen.some((item) => item.kind === 'accepted' && item.name === event);
  const send = async (event: string) => {
    await stack.send(key, [
      { type: 'track', userId: 'u1', event },
      { type: 'page', userId: 'u1', name: 'Not asked for' },
    ]);
    return saw(event);
  };
  await until(() => send('Before'), 60_000);
  await stack.restart();
  await until(() => send('After'), 60_000);
  life.abort();
  await reading;
  const connections = seen.flatMap((item) => (item.kind === 'connected' ? [item.isAgain] : []));
  assert.deepEqual(connections.slice(0, 2), [false, true]);
  assert.ok(seen.some((item) => item.kind === 'lost' && item.why === 'the server restarts'));
  assert.ok(!saw('Not asked for'));
  const gone = tailSource(control, 'src_gone', {}, new AbortController().signal).next();
  await assert.rejects(gone, (error) => isRefusal(error, 'not_found') && error.exit === 'notFound');
});
