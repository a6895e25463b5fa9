/** The chart as Helm renders it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { DEPLOY_DIR, type Done, runTool } from './tools.ts';

export const CHART_DIR = join(DEPLOY_DIR, 'helm/millrace');
export const VALUE_FILES = readdirSync(join(CHART_DIR, 'ci'));

export type EnvEntry = { name: string; value?: string };
export type Container = {
  image: string;
  args: string[];
  env: EnvEntry[];
  resources: { requests?: Record<string, string>; limits?: Record<string, string> };
  securityContext: Record<string, unknown>;
  ports?: { name: string; containerPort: number }[];
  volumeMounts?: { name: string; mountPath: string }[];
};
export type Source = { secret: { name: string; items: { key: string; path: string }[] } };
export type Pod = {
  automountServiceAccountToken: boolean;
  terminationGracePeriodSeconds?: number;
  securityContext: Record<string, unknown>;
  containers: Container[];
  volumes: { name: string; projected?: { sources: Source[] } }[];
};
export type Manifest = {
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  data?: Record<string, string>;
  spec: { template: { spec: Pod }; groups?: unknown; egress?: unknown[] };
};

export function render(file: string, ...args: string[]): Manifest[] {
  return parse(renderText(file, ...args));
}

export function renderText(file: string, ...args: string[]): string {
  const done = helm('template', 'shop', CHART_DIR, '--values', join(CHART_DIR, 'ci', file), ...args);
  if (done.status !== 0) throw new Error(done.stderr);
  return done.stdout;
}

export function parse(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((document) => {
      if (document.errors.length > 0) throw new Error(document.errors.join('\n'));
      return document.toJS() as Manifest | null;
    })
    .filter((manifest) => manifest !== null);
}

export function helm(...args: string[]): Done {
  return runTool('helm', args);
}

export function pods(manifests: Manifest[]): { name: string; pod: Pod }[] {
  return manifests
    .filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
    .map(({ metadata, spec }) => ({ name: metadata.name, pod: spec.template.spec }));
}

export function named(manifests: Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
}
