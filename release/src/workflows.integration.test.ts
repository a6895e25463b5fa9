import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { ROOT_DIR } from '@millrace/engines';
import { runPythonTool } from './python-tools.ts';

const FILES = globSync('.github/workflows/*.yml', { cwd: ROOT_DIR }).map((file) => join(ROOT_DIR, file));
const read = (file: string) => readFileSync(file, 'utf8');

suite('the workflows', () => {
  test('follow the schema of GitHub', () => {
    assert.ok(FILES.length >= 2);
    runPythonTool('check-jsonschema', '--builtin-schema=vendor.github-workflows', ...FILES);
  });

  test('take every action by its commit, and name the version beside it', () => {
    const uses = FILES.flatMap((file) => read(file).match(/uses: .*/g) ?? []);
    assert.ok(uses.length > 5);
    assert.deepEqual(
      uses.filter((line) => !/^uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line)),
      [],
    );
  });

  test('have no secret, and put no expression into a script', () => {
    for (const file of FILES) {
      assert.doesNotMatch(read(file), /\bsecrets\./);
      const scripts = read(file).match(/^ *(?:- )?run: (?:\|\n(?: {10,}.*\n?|\n)+|.*)/gm) ?? [];
      assert.ok(scripts.length > 0);
      assert.deepEqual(
        scripts.filter((script) => script.includes('${{')),
        [],
        file,
      );
    }
  });

  test('give the job that runs the code of dependencies no right to write', () => {
    const release = read(join(ROOT_DIR, '.github/workflows/release.yml'));
    const [head = '', publish = ''] = release.split(/^ {2}publish:$/m);
    assert.match(head, /^permissions:\n {2}contents: read$/m);
    assert.doesNotMatch(head, /: write/);
    assert.doesNotMatch(publish, /npm (ci|install|run)|node /);
  });

  test('let podman write its login where cosign and the attestations read it', () => {
    const release = read(join(ROOT_DIR, '.github/workflows/release.yml'));
    const file = release.indexOf('echo "REGISTRY_AUTH_FILE=$HOME/.docker/config.json" >>"$GITHUB_ENV"');
    assert.ok(release.includes('mkdir -p "$HOME/.docker"') && file > 0);
    assert.ok(file < release.indexOf('podman login'));
  });

  test('move the tag latest of the image after the packages are on npm', () => {
    const release = read(join(ROOT_DIR, '.github/workflows/release.yml'));
    const order = [
      'podman manifest push',
      'cosign sign',
      'npm publish',
      '"docker://$IMAGE:latest"',
      'gh release create',
    ];
    const places = order.map((text) => release.indexOf(text));
    assert.ok(places.every((place) => place > 0));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
    assert.equal(release.split('$IMAGE:latest').length, 2);
  });
});
