/** Everything that a person who helps needs to see, and no secret: each text passes the mask before it goes into the archive. */
import { openSync, closeSync, fstatSync, readSync, writeFileSync } from 'node:fs';
import { arch, cpus, freemem, loadavg, release, totalmem, uptime } from 'node:os';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import type { ConfigRead } from '@millrace/server/config';
import { VERSION } from '@millrace/server/version';
import { Failure } from '../../output/failures.ts';
import { runDoctor } from '../doctor/run-doctor.ts';
import type { Mask } from '../mask.ts';
import { type TarEntry, tarOf } from './tar.ts';

export type BundleNeeds = {
  read: ConfigRead;
  /** Names of log files; the last megabytes of each go in. */
  logs: readonly string[];
  mask: Mask;
  onStep?(step: string): void;
};

const MAX_LOG_BYTES = 4_000_000;

export async function makeBundle({ read, logs, mask, onStep }: BundleNeeds): Promise<TarEntry[]> {
  onStep?.('running doctor');
  const diagnosis = await runDoctor({ read, dataDir: undefined });
  onStep?.('asking for metrics');
  const texts: TarEntry[] = [
    { name: 'README.txt', text: README },
    { name: 'doctor.json', text: json(diagnosis) },
    { name: 'settings.json', text: json(read.ok ? read.value.shown : { problems: read.problems }) },
    { name: 'versions.json', text: json(versions()) },
    { name: 'metrics.txt', text: await metricsOf(read) },
    ...logs.map((path, index) => ({ name: `logs/${index + 1}.log`, text: tailOf(path) })),
  ];
  return texts.map(({ name, text }) => ({ name, text: mask(text) }));
}

export function writeBundle(path: string, entries: readonly TarEntry[]): number {
  const data = gzipSync(
    tarOf(
      entries.map(({ name, text }) => ({ name: `millrace-support/${name}`, text })),
      new Date(),
    ),
  );
  try {
    writeFileSync(path, data, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new Failure(`${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`, {
      todo: 'Name another file in --to.',
    });
  }
  return data.length;
}

const README = `A support bundle of Millrace, made by \`millrace support-bundle\`.
Secrets are masked as ***. It holds settings, versions, the state of streams and consumers, metrics, the findings of doctor
and, if they were given, the ends of log files. It holds no events and no personal data, except what log files may hold.
Read it before you send it.
`;

function versions() {
  const { versions: node, platform } = process;
  const machine = {
    platform,
    release: release(),
    arch: arch(),
    cpus: cpus().length,
    memory: totalmem(),
    free: freemem(),
    load: loadavg(),
    uptime: uptime(),
  };
  return { millrace: VERSION, node, machine };
}

/** Of the process that these settings start, if it runs on this machine. */
async function metricsOf(read: ConfigRead): Promise<string> {
  if (!read.ok || read.value.metrics.port === 0) return 'The settings name no port for metrics.\n';
  const { host, port } = read.value.metrics;
  const url = `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host}:${port}/metrics`;
  try {
    return await (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text();
  } catch (error) {
    return `${url} did not answer: ${error instanceof Error ? error.message : String(error)}\n`;
  }
}

/** From the beginning of a line, so that no secret is cut in two and passes the mask. */
function tailOf(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { size } = fstatSync(file);
    const from = Math.max(0, size - MAX_LOG_BYTES);
    const buffer = Buffer.alloc(size - from);
    readSync(file, buffer, 0, buffer.length, from);
    const text = buffer.toString();
    return from === 0 ? text : text.slice(text.indexOf('\n') + 1);
  } catch (error) {
    throw new Failure(`The log ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      exit: 'usage',
      todo: 'Name a file that you may read in --log.',
    });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
