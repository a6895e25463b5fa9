/**
 * The base of the image, from the Debian packages of this machine's own mirrors: the packages that distroless' `cc` has, unpacked
 * without their installation scripts, so that no shell is needed and a foreign platform can be made as well.
 */
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runProgram } from '../run-program.ts';
import type { Platform } from './platforms.ts';

/** The files that the image needs of each package, beside the licence. Debian and Ubuntu have them in /lib or in /usr/lib. */
const PACKAGES: Readonly<Record<string, readonly RegExp[]>> = {
  'base-files': [
    /^lib(64)?$/,
    /^usr\/lib\/os-release$/,
    /^etc\/(os-release|debian_version)$/,
    /^usr\/share\/common-licenses\//,
  ],
  'ca-certificates': [/^usr\/share\/ca-certificates\//],
  libc6: [/^(usr\/)?lib(64)?\/(?!.*\/gconv\/)/, /^etc\//],
  'libgcc-s1': [/^(usr\/)?lib\//],
  'libstdc++6': [/^usr\/lib\//],
  netbase: [/^etc\//],
  tzdata: [/^usr\/share\/zoneinfo\/(?!right\/|posix\/)/],
};
/** The licences of libgcc and libstdc++ are in a package whose name has the version of GCC. */
const GCC_BASE = /\bgcc-\d+-base\b/;
const STATUS_DIR = 'var/lib/dpkg/status.d';
const LICENCE = /^usr\/share\/doc\/[^/]+(\/copyright)?$/;

/** The folder with the root file system; made once and then kept in `cacheDir`. */
export function makeBase(platform: Platform, cacheDir: string): string {
  const base = join(cacheDir, `base-${platform}`);
  if (existsSync(base)) return base;
  const work = join(cacheDir, `base-${platform}.new`);
  rmSync(work, { recursive: true, force: true });
  const [debs, root] = [join(work, 'debs'), join(work, 'root')];
  for (const dir of [debs, join(root, STATUS_DIR), join(root, 'etc/ssl/certs'), join(root, 'tmp')])
    mkdirSync(dir, { recursive: true });
  const download = openDownload(platform, work, debs);
  download(Object.keys(PACKAGES));
  for (const [name, keep] of Object.entries(PACKAGES)) unpack(name, { keep, debs, root });
  const [gccBase = ''] = GCC_BASE.exec(readFileSync(join(root, STATUS_DIR, 'libgcc-s1'), 'utf8')) ?? [];
  download([gccBase]);
  unpack(gccBase, { keep: [], debs, root });
  writeAccounts(root);
  writeCertificates(root);
  renameSync(root, base);
  rmSync(work, { recursive: true });
  return base;
}

/** With a state of its own, so that apt-get can fetch the packages of another platform without changing this machine. */
function openDownload(platform: Platform, work: string, debs: string): (names: readonly string[]) => void {
  const state = join(work, 'apt');
  mkdirSync(join(state, 'lists/partial'), { recursive: true });
  mkdirSync(join(state, 'cache/archives/partial'), { recursive: true });
  writeFileSync(join(state, 'status'), '');
  const options = [
    `APT::Architecture=${platform}`,
    `APT::Architectures=${platform}`,
    `Dir::State::lists=${join(state, 'lists')}`,
    `Dir::State::status=${join(state, 'status')}`,
    `Dir::Cache=${join(state, 'cache')}`,
    'APT::Sandbox::User=root',
    'Acquire::Languages=none',
  ].flatMap((option) => ['-o', option]);
  runProgram('apt-get', [...options, '-qq', 'update'], { cwd: debs });
  return (names) => void runProgram('apt-get', [...options, '-qq', 'download', ...names], { cwd: debs });
}

type Unpacking = { keep: readonly RegExp[]; debs: string; root: string };

function unpack(name: string, { keep, debs, root }: Unpacking): void {
  const [deb] = globSync(`${name.replaceAll('+', '[+]')}_*.deb`, { cwd: debs }).map((file) => join(debs, file));
  if (deb === undefined) throw new Error(`apt-get downloaded no ${name}`);
  const unpacked = join(debs, `${name}.unpacked`);
  runProgram('dpkg-deb', ['--extract', deb, unpacked]);
  removeOthers(unpacked, [...keep, LICENCE]);
  runProgram('cp', ['--archive', '--no-target-directory', unpacked, root]);
  // The form of distroless, which scanners of images know.
  writeFileSync(join(root, STATUS_DIR, name), runProgram('dpkg-deb', ['--field', deb]));
}

function removeOthers(dir: string, keep: readonly RegExp[]): void {
  const files = runProgram('find', [dir, '!', '-type', 'd', '-printf', '%P\\n']).split('\n').filter(Boolean);
  for (const file of files.filter((path) => !keep.some((pattern) => pattern.test(path)))) rmSync(join(dir, file));
  runProgram('find', [dir, '-mindepth', '1', '-type', 'd', '-empty', '-delete']);
}

function writeAccounts(root: string): void {
  const nobody = 'nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin';
  const accounts = [
    'root:x:0:0:root:/root:/sbin/nologin',
    nobody,
    'nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin',
  ];
  writeFileSync(join(root, 'etc/passwd'), `${accounts.join('\n')}\n`);
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nnogroup:x:65534:\nnonroot:x:65532:\n');
  writeFileSync(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n');
}

/** The installation script of ca-certificates would do this. */
function writeCertificates(root: string): void {
  const files = globSync('usr/share/ca-certificates/mozilla/*.crt', { cwd: root }).toSorted((a, b) =>
    basename(a).localeCompare(basename(b)),
  );
  if (files.length < 50) throw new Error(`ca-certificates brought only ${files.length} certificates`);
  const all = files.map((file) => readFileSync(join(root, file), 'utf8')).join('');
  writeFileSync(join(root, 'etc/ssl/certs/ca-certificates.crt'), all);
}
