/** The programs that the tests of this folder check with, from `bash deploy/get-checks`. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ENGINES_DIR } from '@millrace/engines';

export const DEPLOY_DIR = resolve(import.meta.dirname, '..');
const CHECKS_DIR = join(ENGINES_DIR, 'checks');

const TOOLS = {
  helm: join(CHECKS_DIR, 'helm/bin/helm'),
  'compose-config': join(CHECKS_DIR, 'compose-config'),
  'check-jsonschema': join(CHECKS_DIR, 'python/bin/check-jsonschema'),
  'kubernetes-validate': join(CHECKS_DIR, 'python/bin/kubernetes-validate'),
};

export type Done = { status: number | null; stdout: string; stderr: string };

export function runTool(
  tool: keyof typeof TOOLS,
  args: string[],
  options: { cwd?: string; input?: string } = {},
): Done {
  const path = TOOLS[tool];
  if (!existsSync(path)) throw new Error(`${path} is missing: run \`bash deploy/get-checks\` first`);
  const env = { ...process.env, PYTHONPATH: join(CHECKS_DIR, 'python') };
  const done = spawnSync(path, args, { ...options, env, encoding: 'utf8', maxBuffer: 64_000_000 });
  return { status: done.status, stdout: done.stdout, stderr: `${done.stderr}${done.error?.message ?? ''}` };
}

/** The output, or an error with what the program said. */
export function outputOf(
  tool: keyof typeof TOOLS,
  args: string[],
  options: { cwd?: string; input?: string } = {},
): string {
  const done = runTool(tool, args, options);
  if (done.status !== 0) throw new Error(`${tool} ${args.join(' ')}: ${done.stderr}${done.stdout}`);
  return done.stdout;
}

/** A copy of this folder, as an operator has it on a machine. */
export function copyOfDeploy(): Disposable & { path: string } {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-deploy-'));
  const path = join(dir, 'deploy');
  const own = ['.env', 'millrace.env', 'secrets'].map((name) => join(DEPLOY_DIR, 'compose', name));
  cpSync(DEPLOY_DIR, path, { recursive: true, filter: (file) => !own.includes(file) });
  return { path, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}
