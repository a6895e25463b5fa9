import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { natsServerBinary } from '@millrace/engines';
import { until } from '../../server/testing/until.ts';

export type NatsServer = { name: string; configFile: string; monitorPort: number; env: NodeJS.ProcessEnv };

/** A nats-server with a configuration of this folder, once it is healthy: in a cluster that means that it has found the others. */
export async function startNatsServer({ name, configFile, monitorPort, env }: NatsServer): Promise<AsyncDisposable> {
  const child = spawn(natsServerBinary(), ['--config', configFile], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const stopWithUs = () => void child.kill('SIGKILL');
  process.once('exit', stopWithUs);
  const end = async () => {
    process.removeListener('exit', stopWithUs);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  let said = '';
  child.stderr.on('data', (part: Buffer) => void (said += part.toString()));
  const isHealthy = async () => {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${said}`);
    return (await fetch(`http://127.0.0.1:${monitorPort}/healthz`).catch(() => undefined))?.ok === true;
  };
  try {
    await until(isHealthy, 60_000, () => said);
  } catch (error) {
    await end();
    throw error;
  }
  return { [Symbol.asyncDispose]: end };
}
