/** `millrace tail` in a real pseudo-terminal, against a real server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openReceiver } from '../../../../server/testing/receiver.ts';
import { track } from '../../../../server/testing/samples.ts';
import { addScene, openStack } from '../../../../server/testing/stack.ts';
import { until } from '../../../../server/testing/until.ts';
import { openInTerminal } from '../../../testing/terminal.ts';

const TOKEN = 'a-bootstrap-token-of-more-than-32-characters';

test('the tail in a terminal shows each call in one row with its outcomes, and its details as curl', async () => {
  await using stack = await openStack();
  await using receiver = await openReceiver();
  const scene = await addScene(stack, receiver.url);
  const env = {
    MILLRACE_URL: stack.controlUrl().replace('/api/v1', ''),
    MILLRACE_TOKEN: TOKEN,
    XDG_CONFIG_HOME: '/nowhere',
  };
  await using terminal = await openInTerminal(['tail', '--source', scene.sourceId], { env });
  await terminal.shows('connected, at most 50 events a second');
  await stack.send(scene.writeKey, [
    track('Order Completed', { properties: { note: '\u001b[2J' } }),
    { type: 'track', userId: 'u' },
  ]);
  await terminal.shows(/Order Completed .*Delivered/i);
  await terminal.shows(/REFUSED event_not_defined/);
  terminal.press('/order\r');
  await until(() => !terminal.text().includes('REFUSED'), 60_000);
  terminal.press('\r');
  await terminal.shows('messageId m-Order Completed');
  terminal.press('\x1b[F');
  await terminal.shows(`-u "$MILLRACE_WRITE_KEY:"`);
  terminal.press('q');
  assert.equal(await terminal.ended, 0);
  assert.equal(terminal.buffer(), 'normal');
});
