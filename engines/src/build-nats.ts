/**
 * Builds nats-server from the module's source, through the Go proxy, for this platform or another one. `.engines/nats` keeps what was
 * built, so that only the first time takes long.
 */
import { execFileSync, type ExecFileSyncOptions } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENGINES_DIR } from './paths.ts';

/** Older than 2.15 has neither the fast replicated sync nor the schedules we build on: see docs/inside/decisions. */
export const NATS_VERSION = '2.15.2';
const MODULE = 'github.com/nats-io/nats-server/v2';

/** In Go's words; without them it is this machine's platform. */
export type GoPlatform = { goos: string; goarch: string };

/** The folder with the program (`nats-server`, `nats-server.exe` for Windows) and LICENSE: the licences of all that is in it. */
export function buildNats(platform: GoPlatform = ownPlatform()): string {
  const { goos, goarch } = platform;
  const dir = join(ENGINES_DIR, 'nats', `${NATS_VERSION}-${goos}-${goarch}`);
  if (existsSync(dir)) return dir;
  console.error(`building nats-server ${NATS_VERSION} for ${goos} ${goarch} with \`go build\` …`);
  const making = `${dir}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  const source = downloadModule(`${MODULE}@v${NATS_VERSION}`);
  const program = join(making, goos === 'windows' ? 'nats-server.exe' : 'nats-server');
  // The compiler takes a quarter less time when it collects its garbage less often.
  const compiler = { CGO_ENABLED: '0', GOGC: '400', GOFLAGS: '-mod=readonly' };
  const target = { ...process.env, ...compiler, GOOS: goos, GOARCH: goarch };
  const args = ['build', '-C', source, '-trimpath', '-ldflags', '-s -w', '-o', program, '.'];
  go(args, { env: target, stdio: ['ignore', 'inherit', 'inherit'] });
  writeFileSync(join(making, 'LICENSE'), licencesOf(program, source));
  keep(making, dir);
  return dir;
}

/** Another process may have built the same in the meantime; both are equal. */
function keep(making: string, dir: string): void {
  try {
    renameSync(making, dir);
  } catch (error) {
    rmSync(making, { recursive: true });
    if (!existsSync(dir)) throw error;
  }
}

function ownPlatform(): GoPlatform {
  const [goos = '', goarch = ''] = go(['env', 'GOOS', 'GOARCH']).trim().split('\n');
  return { goos, goarch };
}

/** Where Go keeps the source of a module, which it gets through its proxy and checks against its checksum database. */
function downloadModule(module: string): string {
  const { Dir } = JSON.parse(go(['mod', 'download', '-json', module])) as { Dir: string };
  return Dir;
}

/** Go's linker notes in the program which modules it has put in. */
function licencesOf(program: string, source: string): string {
  const inside = go(['version', '-m', program])
    .split('\n')
    .flatMap((line) => /^\tdep\t(\S+)\t(\S+)/.exec(line)?.slice(1, 3).join('@') ?? []);
  const modules = [
    { id: `${MODULE}@v${NATS_VERSION}`, dir: source },
    ...inside.map((id) => ({ id, dir: downloadModule(id) })),
    // The same text as that of the modules under golang.org/x; Debian's Go comes without the file.
    ...inside
      .filter((id) => id.startsWith('golang.org/x/crypto@'))
      .map((id) => ({ id: 'Go standard library', dir: downloadModule(id) })),
  ];
  return modules.map(({ id, dir }) => `${id}\n\n${licenceIn(dir, id)}`).join(`\n${'-'.repeat(100)}\n\n`);
}

function licenceIn(dir: string, id: string): string {
  const file = readdirSync(dir).find((name) => /^licen[cs]e/i.test(name));
  if (file === undefined) throw new Error(`${id} has no licence file, so its code cannot be packed`);
  return readFileSync(join(dir, file), 'utf8');
}

function go(args: string[], options: ExecFileSyncOptions = {}): string {
  try {
    return String(execFileSync('go', args, { encoding: 'utf8', maxBuffer: 1e8, ...options }) ?? '');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`\`go ${args.join(' ')}\` failed: Go 1.25 or newer has to be in PATH (${why})`, { cause: error });
  }
}
