import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite, test } from 'node:test';
import { ROOT_DIR } from '@millrace/engines';
import { closeUnreleased, releaseNotes, sectionOf } from './changelog.ts';
import { findVersions, versionProblems, writeVersion } from './versions.ts';

const CHANGELOGS = ['CHANGELOG.md', 'clients/node/CHANGELOG.md', 'clients/go/CHANGELOG.md'];

function ownVersion(rootDir: string): string {
  return (JSON.parse(readFileSync(join(rootDir, 'package.json'), 'utf8')) as { version: string }).version;
}

/** A copy of the files that have the version, to change them. */
function copyPlaces(): Disposable & { dir: string } {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-versions-'));
  const files = new Set([...findVersions().map(({ file }) => file), 'package-lock.json', ...CHANGELOGS]);
  for (const file of files) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    cpSync(join(ROOT_DIR, file), join(dir, file));
  }
  return { dir, [Symbol.dispose]: () => rmSync(dir, { recursive: true }) };
}

suite('the version', () => {
  test('is the same in packages, clients, API description, deployment and documentation', () => {
    assert.deepEqual(versionProblems(ownVersion(ROOT_DIR)), []);
  });

  test('is looked for in every package.json of the project', () => {
    const { workspaces } = JSON.parse(readFileSync(join(ROOT_DIR, 'package.json'), 'utf8')) as { workspaces: string[] };
    const files = findVersions().map(({ file }) => file);
    for (const workspace of workspaces)
      assert.ok(files.includes(`${workspace}/package.json`), `versions.ts leaves ${workspace}/package.json out`);
  });

  test('that differs in one file is told with the file and both versions', () => {
    using copy = copyPlaces();
    const file = join(copy.dir, 'clients/go/limits.go');
    const version = ownVersion(copy.dir);
    writeFileSync(file, readFileSync(file, 'utf8').replace(`"${version}"`, '"9.9.9"'));
    assert.deepEqual(versionProblems(version, copy.dir), [
      `clients/go/limits.go has the version 9.9.9, and package.json ${version}`,
    ]);
  });

  test('is written to all places at once, the lockfile included', () => {
    using copy = copyPlaces();
    const changed = writeVersion('7.8.9', copy.dir);
    assert.ok(changed.includes('package-lock.json') && changed.includes('server/package.json'));
    assert.deepEqual(versionProblems('7.8.9', copy.dir), []);
    const lock = JSON.parse(readFileSync(join(copy.dir, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string; dependencies: Record<string, string> }>;
    };
    assert.equal(lock.packages['server']?.version, '7.8.9');
    assert.equal(lock.packages['server']?.dependencies['@millrace/contract'], '7.8.9');
    assert.deepEqual(writeVersion('7.8.9', copy.dir), []);
  });

  test('that is none is refused', () => {
    assert.throws(() => writeVersion('next'), /next is not a version such as 1\.2\.3/);
  });
});

suite('the notes of a release', () => {
  test('are the sections of its version in the changelogs', () => {
    using copy = copyPlaces();
    assert.deepEqual(closeUnreleased('7.8.9', '2030-01-02', copy.dir), CHANGELOGS);
    const { text, missing } = releaseNotes('7.8.9', copy.dir);
    assert.deepEqual(missing, []);
    assert.match(text, /^# Millrace 7\.8\.9\n\n## Server, console and command line\n\n### /);
    assert.match(text, /\n## Go client\n\n### Added\n/);
    assert.match(readFileSync(join(copy.dir, 'CHANGELOG.md'), 'utf8'), /^## Unreleased\n\n## 7\.8\.9 - 2030-01-02$/m);
    assert.deepEqual(closeUnreleased('7.8.9', '2030-01-02', copy.dir), []);
  });

  test('of a version without a section are those of Unreleased, and say so', () => {
    assert.deepEqual(releaseNotes('7.8.9').missing, CHANGELOGS);
    assert.match(releaseNotes('7.8.9').text, /### Added/);
  });

  test('end where the next version begins', () => {
    const changelog = '# Changelog\n\n## Unreleased\n\n## 2.0.0 - 2030-01-01\n\n- new\n\n## 1.0.0\n\n- old\n';
    assert.equal(sectionOf(changelog, '2.0.0'), '- new');
    assert.equal(sectionOf(changelog, '1.0.0'), '- old');
    assert.equal(sectionOf(changelog, 'Unreleased'), '');
    assert.equal(sectionOf(changelog, '3.0.0'), undefined);
  });
});
