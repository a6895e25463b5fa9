/** A folder that `setup` has prepared, and its compose file as Docker Compose itself reads it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { copyOfDeploy, outputOf } from './tools.ts';

export type Port = { host_ip?: string; published: string; target: number };
export type Mount = { type: string; source: string; target: string };
export type Service = {
  image: string;
  user?: string;
  restart?: string;
  read_only?: boolean;
  privileged?: boolean;
  cap_add?: string[] | null;
  cap_drop?: string[];
  security_opt?: string[];
  environment?: Record<string, string>;
  secrets?: { source: string; target?: string }[];
  volumes?: Mount[];
  ports?: Port[];
  networks?: Record<string, unknown>;
  healthcheck?: { test: string[] };
  deploy: { resources: { limits?: { memory?: string; pids?: number } } };
};
export type Project = {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
  secrets: Record<string, { file: string }>;
};

export type SetUp = { status: number | null; stdout: string; stderr: string };

export function runSetup(dir: string, args: string[]): SetUp {
  return spawnSync(join(dir, 'compose/setup'), args, { encoding: 'utf8' });
}

/** `args` are those of `setup`. */
export function openProject(...args: string[]): Disposable & Project & { path: string } {
  const copy = copyOfDeploy();
  const done = runSetup(copy.path, args);
  if (done.status !== 0) throw new Error(`setup ${args.join(' ')}: ${done.stderr}`);
  const file = args.includes('--ha') ? 'compose.ha.yaml' : 'compose.yaml';
  const project = JSON.parse(outputOf('compose-config', [file], { cwd: join(copy.path, 'compose') })) as Project;
  return { ...project, path: copy.path, [Symbol.dispose]: () => copy[Symbol.dispose]() };
}
