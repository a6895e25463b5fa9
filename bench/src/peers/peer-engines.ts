/** Engines of the peers that Millrace does not have: Redis or Valkey, and RabbitMQ. From the system, or named by a variable. */
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePorts } from '@millrace/engines';
import { type Child, child, output } from './child.ts';

export type Engine = Child & { port: number };

export const REDIS = process.env['PEERS_REDIS_BIN'] ?? 'redis-server';
export const RABBITMQ = process.env['PEERS_RABBITMQ_BIN'] ?? '/usr/lib/rabbitmq/bin/rabbitmq-server';

export async function openRedis(dir: string, options: readonly string[]): Promise<Engine> {
  const [port = 0] = await freePorts(1);
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, ...options];
  const redis = child({ name: 'redis', command: REDIS, args, dir, isReady: () => canConnect(port) });
  await redis.start();
  return { ...redis, port };
}

export async function openRabbit(parent: string): Promise<Engine> {
  const [port = 0, distPort = 0] = await freePorts(2);
  const dir = join(parent, 'rabbit');
  const env = {
    HOME: dir,
    RABBITMQ_NODENAME: `peers${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
    RABBITMQ_MNESIA_BASE: join(dir, 'mnesia'),
    RABBITMQ_LOG_BASE: join(dir, 'log'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(dir, 'plugins'),
    RABBITMQ_PID_FILE: join(dir, 'pid'),
    RABBITMQ_CONFIG_FILE: join(dir, 'none'),
  };
  const rabbit = child({ name: 'rabbit', command: RABBITMQ, env, dir, isReady: () => canConnect(port) });
  await rabbit.start();
  return { ...rabbit, port };
}

/** The version that an engine tells, or why it cannot run. */
export function engineText(command: string, args: readonly string[] = ['--version']): string {
  try {
    return output(command, args).split('\n')[0] ?? '';
  } catch {
    return `${command}: not there`;
  }
}

async function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
