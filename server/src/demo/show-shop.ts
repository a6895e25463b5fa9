/** `npm run dev -- --demo`: the server, the receivers of a made-up shop, and the shop's calls. */
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import { DEMO_TOKEN } from '../secrets/demo-secrets.ts';
import { startRoles } from '../start-roles.ts';
import { openShopReceivers } from './shop/shop-receivers.ts';
import { type Demo, startDemo } from './shop/start-demo.ts';

type Needs = { config: Config; log: Logger; callsPerSecond: number; seed: number };

export async function showShop({ config, log, callsPerSecond, seed }: Needs, stack: AsyncDisposableStack) {
  // The receivers stop last: an attempt that is under way at Ctrl-C still gets its answer.
  const receivers = stack.use(await openShopReceivers(callsPerSecond));
  const { control, collectPort } = stack.use(await startRoles(config, log));
  if (control === undefined || collectPort === undefined || !config.roles.includes('deliver')) {
    throw new Error('--demo needs every role in one process: leave MILLRACE_ROLES unset');
  }
  const controlUrl = `http://127.0.0.1:${control.port}`;
  const collectUrl = `http://127.0.0.1:${collectPort}`;
  const token = config.control.bootstrapToken ?? DEMO_TOKEN;
  console.log(`Setting up Fernhill Outdoor, a made-up shop. This takes some seconds.`);
  const options = { controlUrl, collectUrl, token, callsPerSecond, seed, receivers, log };
  const demo = stack.use(await startDemo(options));
  console.log(greeting(demo, { controlPort: control.port, collectPort, token, callsPerSecond }));
}

type Shown = { controlPort: number; collectPort: number; token: string; callsPerSecond: number };

function greeting({ account, shop }: Demo, { controlPort, collectPort, token, callsPerSecond }: Shown): string {
  const keys = Object.entries(shop.sources).map(([name, { writeKey }]) => `  ${name.padEnd(15)}${writeKey}`);
  return `
Fernhill Outdoor sends ${callsPerSecond} calls a second to http://localhost:${collectPort}, and six destinations get them.

Sign in on http://localhost:${controlPort}
  email          ${account.email}
  password       ${account.password}
  API token      ${token}

Write keys:
${keys.join('\n')}

Ctrl-C stops. A second start goes on with the same shop.`;
}
