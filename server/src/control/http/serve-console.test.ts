import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fastify, { type FastifyInstance } from 'fastify';
import { openLog } from '../../log.ts';
import { SECURITY_HEADERS } from './security-headers.ts';
import { type Console, serveConsole } from './serve-console.ts';

const log = openLog({ level: 'silent', pretty: false });
const SCRIPT = 'console.log("a script")';
const BROWSER = { accept: 'text/html,application/xhtml+xml' };

let root: string;
let dir: string;
let app: FastifyInstance;
let page: Console;

before(async () => {
  root = mkdtempSync(join(tmpdir(), 'millrace-console-'));
  // Installed below a directory of that name.
  dir = join(root, 'assets/console');
  mkdirSync(join(dir, 'assets'), { recursive: true });
  mkdirSync(join(dir, '.vite'));
  writeFileSync(join(dir, 'index.html'), '<!doctype html><title>Millrace</title>');
  writeFileSync(join(dir, 'assets/main-1234.js'), SCRIPT);
  writeFileSync(join(dir, 'assets/main-1234.js.gz'), gzipSync(SCRIPT));
  writeFileSync(join(dir, 'mark.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(dir, '.vite/manifest.json'), '{}');
  app = fastify();
  page = await serveConsole(app, log, dir);
  app.setNotFoundHandler((request, reply) => (page.answers(request, reply) ? reply : reply.code(404).send('none')));
});
after(async () => {
  await app.close();
  rmSync(root, { recursive: true });
});

suite('the console', () => {
  test('is one page at every path that a browser opens, and never where the API is', async () => {
    for (const url of ['/', '/destinations/dst_1?range=24h', '/sources/new']) {
      const { statusCode, headers, body } = await app.inject({ url, headers: BROWSER });
      assert.deepEqual([statusCode, headers['content-type']], [200, 'text/html; charset=utf-8'], url);
      assert.match(body, /<title>Millrace/);
    }
    const ofApi = [
      '/api/v1/nothing',
      '/api/',
      '/api',
      '/api?x=1',
      '/%61pi/v1/nothing',
      '/api%2Fv1',
      '/API/v1',
      '//api/v1',
    ];
    for (const url of ofApi) {
      assert.equal((await app.inject({ url, headers: BROWSER })).statusCode, 404, url);
    }
    assert.equal((await app.inject({ url: '/assets/gone.js' })).statusCode, 404);
    assert.equal((await app.inject({ method: 'POST', url: '/sources', headers: BROWSER })).statusCode, 404);
  });

  test('has files that are kept for ever, compressed for whoever takes that', async () => {
    const plain = await app.inject({ url: '/assets/main-1234.js', headers: { 'accept-encoding': 'identity' } });
    assert.equal(plain.body, SCRIPT);
    assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.match(String(plain.headers['content-type']), /javascript/);
    const small = await app.inject({ url: '/assets/main-1234.js', headers: { 'accept-encoding': 'gzip' } });
    assert.equal(small.headers['content-encoding'], 'gzip');
    assert.equal((await app.inject({ url: '/mark.svg' })).headers['cache-control'], 'no-cache');
  });

  test('refuses a path that cannot be decoded', async () => {
    for (const url of [
      '/%',
      '/%zz',
      '/%ff',
      '/%2f%ff',
      '/%2F%zz',
      '/%23%',
      '/%25%zz',
      '/x%2',
      '/%c3%28',
      '/%2f%c3%2f',
    ]) {
      assert.equal((await app.inject({ url, headers: BROWSER })).statusCode, 400, url);
    }
  });

  test('gives nothing else of the disk away', async () => {
    const paths = [
      '/.vite/manifest.json',
      '/assets/../.vite/manifest.json',
      '/..%2f..%2fetc/passwd',
      '/assets/%2e%2e/x',
    ];
    for (const url of paths) assert.equal((await app.inject({ url })).statusCode, 404, url);
  });

  test('names its build, and another page is another build', async () => {
    assert.match(page.build ?? '', /^[0-9a-f]{12}$/);
    writeFileSync(join(dir, 'index.html'), '<!doctype html><title>Millrace, newer</title>');
    await using other = fastify();
    assert.notEqual((await serveConsole(other, log, dir)).build, page.build);
  });

  test('says what to do when it is not built', async () => {
    await using bare = fastify();
    const missing = await serveConsole(bare, log, join(dir, 'nowhere'));
    const { statusCode, body } = await bare.inject({ url: '/', headers: BROWSER });
    assert.deepEqual([statusCode, missing.build], [404, undefined]);
    assert.match(body, /npm run build/);
  });
});

test('the CSP lets scripts and styles come from our own origin only', () => {
  const policy = SECURITY_HEADERS['Content-Security-Policy'] ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline';/);
  assert.match(policy, /connect-src 'self'/);
  assert.match(policy, /require-trusted-types-for 'script'/);
  assert.doesNotMatch(policy, /unsafe-eval|https?:|data:|\*/);
});
