import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openCertificates } from '../../../server/testing/certificates.ts';
import { forkWithUs } from '../fork-with-us.ts';
import type { HostileWord } from './hostile-process.ts';
import type { Hostility } from './hostilities.ts';
import { type Plan, planWorkspaces } from './plan-workspaces.ts';

export type Hostile = Disposable & {
  /** A workspace for each of them, with one source and one destination. */
  plans: ReadonlyMap<Hostility, Plan>;
};

/** Starts receivers that attack. Processes of the server that are started afterwards trust the certificate of one of them. */
export async function openHostile(dir: string, hostilities: readonly Hostility[]): Promise<Hostile> {
  using certificates = openCertificates();
  const authorityFile = join(dir, 'authority.pem');
  writeFileSync(authorityFile, certificates.authority);
  process.env['NODE_EXTRA_CA_CERTS'] = authorityFile;
  const { child, ...forked } = forkWithUs(join(import.meta.dirname, 'hostile-process.ts'));
  const opened = once(child, 'message');
  child.send(certificates.make({ names: 'IP:127.0.0.1' }));
  const [{ ports }] = (await opened) as [HostileWord];
  const plans = new Map<Hostility, Plan>();
  for (const hostility of hostilities) {
    const shape = { workspaces: 1, sourcesEach: 1, destinationsPerSource: 1 };
    const plan = planWorkspaces({ name: hostility, ...shape });
    const scheme = hostility === 'tls-renegotiation' ? 'https' : 'http';
    for (const destination of plan.destinations) destination.origin = `${scheme}://127.0.0.1:${ports[hostility]}`;
    plans.set(hostility, plan);
  }
  return {
    plans,
    [Symbol.dispose]() {
      delete process.env['NODE_EXTRA_CA_CERTS'];
      forked[Symbol.dispose]();
    },
  };
}
