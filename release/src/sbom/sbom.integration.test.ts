/** SBOM and licences of the npm package `millrace` and of nats-server, held against what is really inside. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { natsServerBinary, ROOT_DIR } from '@millrace/engines';
import { makePackageDir, type PackageDir } from '../package-dir.ts';
import { checkSbom } from '../python-tools.ts';
import { forbiddenLicences } from './allowed-licences.ts';
import type { Component } from './component.ts';
import { goComponents } from './go-components.ts';
import { nodeComponent } from './node-component.ts';
import { npmComponents } from './npm-components.ts';
import { writeSbom } from './write-sbom.ts';

const SOURCE = { version: '1.2.3', revision: 'a'.repeat(40), createdAt: 1_700_000_000 };
const SUBJECT = { type: 'application', name: 'millrace', purl: 'pkg:npm/millrace@1.2.3' } as const;

/** The pretty printer of development and a native driver that pg asks for: the package works without them. */
const DISPENSABLE = ['pino-pretty', 'pg-native'];

const dir = mkdtempSync(join(tmpdir(), 'millrace-sbom-'));
let packed: PackageDir;
let components: Component[];

before(async () => {
  packed = await makePackageDir();
  components = npmComponents(packed.metafile);
});
after(() => {
  packed[Symbol.dispose]();
  rmSync(dir, { recursive: true });
});

/** Name and version of the package that a file belongs to, from the path alone. */
function ownerOf(file: string): string {
  const [, inner = ''] = /.*node_modules\/(.*)/.exec(file) ?? [];
  const name = inner.split('/', inner.startsWith('@') ? 2 : 1).join('/');
  const manifest = join(ROOT_DIR, file.slice(0, file.length - inner.length), name, 'package.json');
  return `${name}@${(JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version}`;
}

suite('the SBOM of the npm package', () => {
  test('names every package that has code in the bundle or in the console, and no other', (t) => {
    const modules = JSON.parse(readFileSync(join(ROOT_DIR, 'console/dist/.vite/modules.json'), 'utf8')) as string[];
    const bundled = Object.values(packed.metafile.outputs).flatMap(({ inputs }) =>
      Object.keys(inputs).filter((file) => (inputs[file]?.bytesInOutput ?? 0) > 0),
    );
    const files = [...bundled, ...modules].filter((file) => file.includes('node_modules/'));
    const inside = [...new Set(files.map(ownerOf))].toSorted();
    t.diagnostic(`${inside.length} packages`);
    assert.deepEqual(components.map(({ name, version }) => `${name}@${version}`).toSorted(), inside);
  });

  test('misses nothing: the bundle loads no code from outside but what it can do without', () => {
    const outside = Object.values(packed.metafile.outputs)
      .flatMap(({ imports }) => imports.filter(({ external }) => external === true))
      .map(({ path }) => path)
      .filter((path) => !isBuiltin(path));
    assert.deepEqual(
      [...new Set(outside)].filter((path) => !DISPENSABLE.includes(path)),
      [],
    );
  });

  test('has the checksum of every package', () => {
    assert.deepEqual(
      components.filter(({ sha512 }) => !/^[0-9a-f]{128}$/.test(sha512 ?? '')),
      [],
    );
  });

  test('is a valid document of CycloneDX 1.6, and the same for the same source', () => {
    const all = [...components, nodeComponent(), ...goComponents(natsServerBinary())];
    const file = join(dir, 'millrace.cdx.json');
    writeFileSync(file, writeSbom(SUBJECT, all, SOURCE));
    checkSbom(file);
    assert.equal(writeSbom(SUBJECT, all, SOURCE), readFileSync(file, 'utf8'));
  });
});

suite('the licences', () => {
  test('are allowed, every one', () => {
    assert.deepEqual(forbiddenLicences([...components, nodeComponent(), ...goComponents(natsServerBinary())]), []);
  });

  test('are in the package with their whole text, for every package inside', () => {
    const text = readFileSync(join(packed.dir, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    const sections = new Map(
      text.split(/^-{100}$/m).map((section) => {
        const [id = '', ...rest] = section.trim().split('\n');
        return [id, rest.join('\n')];
      }),
    );
    for (const { name, version } of components) {
      const section = sections.get(`${name}@${version}`) ?? '';
      assert.ok(section.length > 400, `${name}@${version} has no licence text in THIRD-PARTY-LICENSES.txt`);
      assert.match(section, /^Licence: \S+/);
    }
  });
});

suite('the modules of nats-server', () => {
  test('are those that Go has linked in, with the standard library', () => {
    const names = goComponents(natsServerBinary()).map(({ name }) => name);
    for (const name of [
      'stdlib',
      'github.com/nats-io/nats-server/v2',
      'github.com/nats-io/nkeys',
      'golang.org/x/crypto',
    ])
      assert.ok(names.includes(name), `${name} is missing among ${names.join(', ')}`);
  });
});
