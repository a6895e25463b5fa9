/** This machine and process: Node, open files, ports, disks, certificates, name servers. */
import { X509Certificate } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { readFileSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import process from 'node:process';
import type { Config } from '@millrace/server/config';
import { bytesIn } from '../../output/steps.ts';
import { type Checked, type Finding, problem, warning } from './finding.ts';

/** Each connection is a file, and each role keeps some more. */
const MIN_FILES = 4_096;
const MIN_FREE_SHARE = 0.1;
const SOON_DAYS = 14;

export type MachineNeeds = { config: Config; dataDir: string | undefined };

export async function checkMachine({ config, dataDir }: MachineNeeds): Promise<Checked> {
  const files = openFilesLimit();
  const findings = [
    ...checkFiles(files),
    ...checkCertificates(config),
    ...(dataDir === undefined ? [] : checkDisk(dataDir)),
    ...(await checkPorts(config)),
    ...(config.roles.includes('deliver') ? await checkNameServers() : []),
  ];
  return { part: 'machine', findings, facts: { node: process.version, platform: process.platform, openFiles: files } };
}

function openFilesLimit(): number | null {
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft: number | string } } };
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : soft === 'unlimited' ? Infinity : null;
}

function checkFiles(limit: number | null): Finding[] {
  if (limit === null || limit >= MIN_FILES) return [];
  return [
    problem('open_files_low', {
      what: `This process may have ${limit} files open.`,
      why: 'Each connection of a client and of a receiver is one: collect turns clients away when there is none left.',
      todo: 'Raise the limit: LimitNOFILE=65536 in the systemd unit, --ulimit nofile=65536 for a container, `ulimit -n 65536` in a shell.',
    }),
  ];
}

function checkDisk(dir: string): Finding[] {
  try {
    const { bavail, blocks, bsize } = statfsSync(dir);
    if (bavail / blocks >= MIN_FREE_SHARE) return [];
    return [
      problem('disk_low', {
        what: `The disk of ${dir} has ${bytesIn(bavail * bsize)} free, ${Math.round((bavail / blocks) * 100)} %.`,
        why: 'NATS stops storing when the disk is full, and collect then answers 503 to every call.',
        todo: 'Free room or enlarge the disk; lower max_file_store of NATS so that its streams are full before the disk is.',
      }),
    ];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [
      problem('disk_unknown', {
        what: `The folder ${dir} cannot be looked at: ${why}`,
        why: 'Its room is not known.',
        todo: 'Name the folder of NATS or PostgreSQL on this machine in --data.',
      }),
    ];
  }
}

/** Files that cannot be read at all are found with the settings. */
function checkCertificates({ natsFiles }: Config): Finding[] {
  return [natsFiles.ca, natsFiles.certificate].flatMap((path) => {
    if (path === undefined) return [];
    const words = {
      why: 'NATS and this process refuse a connection with a certificate that is not valid.',
      todo: 'Renew it; a running process reads the new file at its next connection, without a restart.',
    };
    try {
      const { validTo } = new X509Certificate(readFileSync(path));
      const days = (Date.parse(validTo) - Date.now()) / 86_400_000;
      if (days < 0)
        return [
          problem('certificate_expired', { what: `The certificate in ${path} expired at ${validTo}.`, ...words }),
        ];
      if (days < SOON_DAYS)
        return [
          warning('certificate_expires', { what: `The certificate in ${path} expires at ${validTo}.`, ...words }),
        ];
      return [];
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return [
        problem('certificate_unreadable', {
          what: `${path} is no certificate: ${why}`,
          why: words.why,
          todo: 'Name a file in PEM form.',
        }),
      ];
    }
  });
}

async function checkPorts(config: Config): Promise<Finding[]> {
  const listeners = [
    ...(config.roles.includes('collect') ? [{ name: 'MILLRACE_COLLECT_PORT', ...config.collect }] : []),
    ...(config.roles.includes('control') ? [{ name: 'MILLRACE_CONTROL_PORT', ...config.control }] : []),
    { name: 'MILLRACE_METRICS_PORT', ...config.metrics },
  ];
  const findings: Finding[] = [];
  for (const { name, host, port } of listeners) {
    if (port === 0 || (await isFree(host, port)) || (await isMillrace(host, port))) continue;
    findings.push(
      problem('port_taken', {
        what: `Another program listens on port ${port} of ${host}, the value of ${name}.`,
        why: 'A Millrace process cannot start there; without its metrics port it starts, and nobody can watch it.',
        todo: `Stop that program (\`ss -ltnp 'sport = :${port}'\` names it), or set ${name} to a free port.`,
      }),
    );
  }
  return findings;
}

function isFree(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer();
  server.once('error', () => resolve(false));
  server.listen(port, host, () => server.close(() => resolve(true)));
  return promise;
}

/** Doctor also runs beside a server that works. */
async function isMillrace(host: string, port: number): Promise<boolean> {
  const address = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  try {
    const answer = await fetch(`http://${address.includes(':') ? `[${address}]` : address}:${port}/healthz`, {
      signal: AbortSignal.timeout(2_000),
    });
    return /^\{"status":"(alive|ok)"/.test(await answer.text());
  } catch {
    return false;
  }
}

/** Any answer will do, also that there is no such name: it shows that a name server answers. */
async function checkNameServers(): Promise<Finding[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  try {
    await resolver.resolve4('example.com');
    return [];
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (['ENOTFOUND', 'ENODATA', 'EREFUSED', 'ESERVFAIL'].includes(code)) return [];
    return [
      problem('dns_silent', {
        what: `The name servers ${resolver.getServers().join(', ') || '(none)'} do not answer: ${code}.`,
        why: 'Deliver looks up the name of every receiver; without an answer its deliveries wait as dns_timeout.',
        todo: 'Check /etc/resolv.conf and the way to these servers; in a container, its DNS settings.',
      }),
    ];
  }
}
