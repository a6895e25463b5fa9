import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { curlSnippet } from './curl-snippet.ts';

/** Runs the script with a curl that prints what it was given. */
function run(url: string, secret: string): string {
  const script = `curl() { for given in "$@"; do printf '%s\\n' "$given"; done; }\n${curlSnippet(url)}`;
  return execFileSync('sh', ['-c', script], { env: { ...process.env, WEBHOOK_SECRET: secret }, encoding: 'utf8' });
}

test('the request from a terminal is signed as Millrace signs', () => {
  const bytes = Buffer.from('0123456789abcdef0123456789abcdef');
  for (const [secret, key] of [
    [`whsec_${bytes.toString('base64')}`, bytes],
    ['made by hand', Buffer.from('made by hand')],
  ] as const) {
    const said = run('https://hooks.example/x', secret);
    const [, id, sentAt, signature] =
      /webhook-id: (\S+)\n-H\nwebhook-timestamp: (\S+)\n-H\nwebhook-signature: (\S+)/.exec(said) ?? [];
    const body = /\n(\{.*\})\n/.exec(said)?.[1] ?? '';
    const expected = createHmac('sha256', key).update(`${id}.${sentAt}.${body}`).digest('base64');
    assert.equal(signature, `v1,${expected}`);
  }
});

test('a URL cannot become a command', () => {
  const url = `https://hooks.example/'; echo broken; '$(echo broken2)`;
  assert.ok(run(url, 'made by hand').includes(`\n${url}\n`));
});
