/** The Caddyfile of the compose files in a real Caddy, in front of a played installation. Caddy makes its own certificates. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@millrace/engines';
import { until } from '../../server/testing/until.ts';
import type { Played } from './play-compose.ts';

type Answer = { status: number; text: string };
type Sent = { headers: Record<string, string>; body: string };

export async function startProxy(played: Played) {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-caddy-'));
  const [httpPort = 0, httpsPort = 0] = await freePorts(2);
  const given = readFileSync(join(played.path, 'compose/caddy/Caddyfile'), 'utf8');
  const ports = `\thttp_port ${httpPort}\n\thttps_port ${httpsPort}\n`;
  writeFileSync(join(dir, 'Caddyfile'), given.replace('\tadmin off\n', `\tadmin off\n${ports}`));
  const env = { PATH: process.env['PATH'], HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir, ...upstreams(played) };
  const args = ['run', '--config', join(dir, 'Caddyfile'), '--adapter', 'caddyfile'];
  const child = spawn('caddy', args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (part: Buffer) => void (said += part.toString()));
  child.once('error', (error) => void (said += `${error.message} (from \`bash deploy/get-checks\`)`));
  const client = openClient(httpsPort);
  const isUp = () => client.ask('collect.localhost', '/readyz').then(({ status }) => status === 200);
  await until(
    () => isUp().catch(() => false),
    60_000,
    () => said,
  );
  return {
    page: async (path: string) => (await client.ask('console.localhost', path)).text,
    async send(writeKey: string, call: object): Promise<number> {
      const headers = { Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` };
      const body = JSON.stringify({ batch: [call] });
      return (await client.ask('collect.localhost', '/v1/batch', { headers, body })).status;
    },
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function upstreams({ services }: Played): Record<string, string> {
  const list = (ports: (number | undefined)[]) =>
    ports.flatMap((port) => (port === undefined ? [] : [`127.0.0.1:${port}`])).join(' ');
  return {
    COLLECT_DOMAIN: 'collect.localhost',
    CONSOLE_DOMAIN: 'console.localhost',
    COLLECT_UPSTREAMS: list(Object.values(services).map(({ collectPort }) => collectPort)),
    CONTROL_UPSTREAMS: list(Object.values(services).map(({ control }) => control?.port)),
  };
}

function openClient(port: number) {
  // The authority is Caddy's own and made for this test.
  const agent = new Agent({ rejectUnauthorized: false, keepAlive: true });
  const ask = (host: string, path: string, sent?: Sent): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const headers = { Host: host, ...sent?.headers };
      const to = { agent, port, host: '127.0.0.1', servername: host, path, method: sent ? 'POST' : 'GET', headers };
      const asked = request(to, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => void parts.push(part));
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text: parts.join('') }));
      });
      asked.once('error', reject);
      asked.end(sent?.body);
    });
  return { ask, [Symbol.dispose]: () => agent.destroy() };
}
