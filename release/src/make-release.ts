/** All files of a release, in one folder: npm packages, images, SBOMs, notes, checksums. Nothing is uploaded. */
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import process from 'node:process';
import { ROOT_DIR } from '@millrace/engines';
import { CHECKSUMS, sha256Of, writeChecksums } from './checksums.ts';
import { releaseNotes } from './changelog.ts';
import { buildImage } from './image/build-image.ts';
import { getTools } from './image/get-tools.ts';
import { imageSize } from './image/image-size.ts';
import { openPodman } from './image/open-podman.ts';
import { type Platform, PLATFORMS } from './image/platforms.ts';
import { makePackageDir, type PackageDir } from './package-dir.ts';
import { checkSbom, getPythonTools } from './python-tools.ts';
import { runProgram } from './run-program.ts';
import { forbiddenLicences } from './sbom/allowed-licences.ts';
import type { Component } from './sbom/component.ts';
import { goComponents } from './sbom/go-components.ts';
import { imageComponents } from './sbom/image-components.ts';
import { npmComponents } from './sbom/npm-components.ts';
import { type Subject, writeSbom } from './sbom/write-sbom.ts';
import type { SourceState } from './source-state.ts';
import { versionProblems } from './versions.ts';

export type ReleasePlan = {
  source: SourceState;
  /** A folder that does not exist yet or is empty. */
  out: string;
  /** The tag that is being released; without it, this is a rehearsal. */
  tag: string | undefined;
  /** The base of the image in a registry; without it, one is made here. */
  base: string | undefined;
};

const IMAGE_PLATFORMS = Object.keys(PLATFORMS) as Platform[];

// oxlint-disable-next-line max-lines-per-function -- the steps of a release, in their order
export async function makeRelease(plan: ReleasePlan): Promise<void> {
  const { source, out } = plan;
  if (existsSync(out) && readdirSync(out).length > 0) throw new Error(`${out} is not empty: name another folder`);
  mkdirSync(join(out, 'sbom'), { recursive: true });
  getPythonTools();
  getTools(IMAGE_PLATFORMS);

  step('versions, changelog and state of the source');
  checkSource(plan);
  step('format, lint, types, rooms, links (npm run check)');
  runProgram('npm', ['run', '--silent', 'check'], { cwd: ROOT_DIR });
  step('console');
  runProgram('npm', ['run', '--silent', 'build'], { cwd: ROOT_DIR });
  step('npm packages of all platforms (npm run pack)');
  runProgram('npm', ['run', '--silent', 'pack', '--', join(out, 'npm'), '--all-platforms'], { cwd: ROOT_DIR });

  using packed = await makePackageDir();
  using unpacked = unpack(join(out, 'npm', `millrace-${source.version}.tgz`));
  assertSame(packed, unpacked.dir);
  step('SBOMs and licences of the packages');
  saveSbom(plan, 'millrace', npmSubject('millrace', source), npmComponents(packed.metafile));
  for (const tarball of globSync('npm/**/millrace-nats-*.tgz', { cwd: out })) saveNatsSbom(plan, join(out, tarball));

  using podman = openPodman();
  mkdirSync(join(out, 'image'));
  for (const platform of IMAGE_PLATFORMS) {
    step(`image for linux/${platform}`);
    const image = buildImage(podman, platform, { ...source, packageDir: unpacked.dir, base: plan.base });
    const { megabytes, compressedMegabytes } = imageSize(podman, image);
    process.stdout.write(`   ${megabytes} MB, ${compressedMegabytes} MB compressed\n`);
    const file = join(out, 'image', `millrace-${source.version}-linux-${platform}.tar`);
    podman.run('save', '--quiet', '--format=docker-archive', `--output=${file}`, image);
    const purl = `pkg:oci/millrace@${source.version}?arch=${platform}&repository_url=ghcr.io/millrace/millrace`;
    const subject = { type: 'container', name: 'millrace', purl } as const;
    saveSbom(plan, `image-linux-${platform}`, subject, imageComponents({ podman, image, metafile: packed.metafile }));
  }

  step('release notes and checksums');
  writeFileSync(join(out, 'RELEASE-NOTES.md'), releaseNotes(source.version).text);
  writeChecksums(out);
  runProgram('sha256sum', ['--check', '--quiet', CHECKSUMS], { cwd: out });
}

let startedAt = Date.now();

function step(name: string): void {
  startedAt = Math.min(startedAt, Date.now());
  process.stdout.write(`== ${name} (${Math.round((Date.now() - startedAt) / 1000)} s)\n`);
}

/** A rehearsal is told what a release would refuse. */
function checkSource({ source, tag }: ReleasePlan): void {
  const wrong = versionProblems(source.version);
  if (wrong.length > 0)
    throw new Error(`${wrong.join('\n')}\n\`npm run release -- version X.Y.Z\` writes it everywhere.`);
  const doubts = [
    ...releaseNotes(source.version).missing.map((file) => `${file} has no section ${source.version}`),
    ...(runProgram('git', ['status', '--porcelain'], { cwd: ROOT_DIR }) === ''
      ? []
      : ['there are changes that are not committed']),
    ...(tag === undefined || tag === `v${source.version}`
      ? []
      : [`the tag is ${tag}, and the version ${source.version}`]),
  ];
  if (tag !== undefined && doubts.length > 0) throw new Error(`This cannot be released:\n  ${doubts.join('\n  ')}`);
  for (const doubt of doubts) process.stdout.write(`   a release would refuse: ${doubt}\n`);
}

function npmSubject(name: string, { version }: SourceState): Subject {
  return { type: 'application', name, purl: `pkg:npm/${name.replace('@', '%40')}@${version}` };
}

function saveSbom(
  { out, source }: ReleasePlan,
  name: string,
  subject: Subject,
  components: readonly Component[],
): void {
  const forbidden = forbiddenLicences(components);
  if (forbidden.length > 0) throw new Error(forbidden.join('\n'));
  const file = join(out, 'sbom', `${name}-${source.version}.cdx.json`);
  writeFileSync(file, writeSbom(subject, components, source));
  checkSbom(file);
  process.stdout.write(`   ${basename(file)}: ${components.length} components, all licences allowed\n`);
}

function saveNatsSbom(plan: ReleasePlan, tarball: string): void {
  using unpacked = unpack(tarball);
  const [program] = globSync('bin/nats-server*', { cwd: unpacked.dir });
  if (program === undefined) throw new Error(`${tarball} has no nats-server`);
  const name = basename(tarball).replace(/^millrace-(nats-.+)-\d+\.\d+\.\d+.*$/, '$1');
  const components = goComponents(join(unpacked.dir, program));
  assertLicences(components, readFileSync(join(unpacked.dir, 'LICENSE'), 'utf8'), tarball);
  saveSbom(plan, name, npmSubject(`@millrace/${name}`, plan.source), components);
}

function assertLicences(components: readonly Component[], text: string, tarball: string): void {
  for (const { name, version } of components) {
    const title = name === 'stdlib' ? 'Go standard library' : `${name}@${version}`;
    if (!text.includes(`${title}\n`))
      throw new Error(
        `LICENSE in ${basename(tarball)} lacks the licence of ${title}: remove .engines/nats, which an older version has filled, and try again`,
      );
  }
}

function unpack(tarball: string): Disposable & { dir: string } {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-unpacked-'));
  runProgram('tar', ['-xzf', tarball, '-C', dir, '--strip-components=1']);
  return { dir, [Symbol.dispose]: () => rmSync(dir, { recursive: true }) };
}

/** The SBOM is made from a second bundle, so the two must be the same, byte by byte. */
function assertSame(packed: PackageDir, tarballDir: string): void {
  for (const file of globSync('{dist,console}/**/*', { cwd: packed.dir })) {
    const [one, other] = [join(packed.dir, file), join(tarballDir, file)];
    if (statSync(one).isFile() && (!existsSync(other) || sha256Of(one) !== sha256Of(other)))
      throw new Error(`${file} differs between two bundles of the same source`);
  }
}
