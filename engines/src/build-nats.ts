/**
 * Builds nats-server from the module's source, through the Go proxy, for this platform or another one. `.engines/nats` keeps what was
 * built, so that only the first time takes long.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENGINES_DIR } from './paths.ts';
import { COMPILER, keepBuilt, runGo } from './run-go.ts';

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
  const target = { ...process.env, ...COMPILER, GOOS: goos, GOARCH: goarch };
  const args = ['build', '-C', source, '-trimpath', '-ldflags', '-s -w', '-o', program, '.'];
  runGo(args, { env: target, stdio: ['ignore', 'inherit', 'inherit'] });
  writeFileSync(join(making, 'LICENSE'), licencesOf(program, source));
  keepBuilt(making, dir);
  return dir;
}

function ownPlatform(): GoPlatform {
  const [goos = '', goarch = ''] = runGo(['env', 'GOOS', 'GOARCH']).trim().split('\n');
  return { goos, goarch };
}

/** Where Go keeps the source of a module, which it gets through its proxy and checks against its checksum database. */
function downloadModule(module: string): string {
  const { Dir } = JSON.parse(runGo(['mod', 'download', '-json', module])) as { Dir: string };
  return Dir;
}

/** Go's linker notes in the program which modules it has put in. */
function licencesOf(program: string, source: string): string {
  const inside = runGo(['version', '-m', program])
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
