import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { ROOT_DIR } from '@millrace/engines';
import { runPythonTool } from '../python-tools.ts';

const DOCKERFILE = join(ROOT_DIR, 'deploy/image/Dockerfile');

suite('the Dockerfile', () => {
  const text = readFileSync(DOCKERFILE, 'utf8');
  const steps = text.split('\n').filter((line) => /^[A-Z]+ /.test(line));

  test('has nothing that hadolint complains about', () => {
    runPythonTool('hadolint', '--failure-threshold=style', DOCKERFILE);
  });

  test('runs no program, so that one machine builds all platforms', () => {
    assert.deepEqual(
      steps.filter((step) => /^(RUN|ADD|SHELL)\b/.test(step)),
      [],
    );
  });

  test('takes its base from an argument whose default is distroless without root', () => {
    assert.match(text, /^ARG BASE=gcr\.io\/distroless\/\S+:nonroot$/m);
    assert.deepEqual(
      steps.filter((step) => step.startsWith('FROM ')),
      ['FROM ${BASE}'],
    );
  });

  test('names only files of the project that exist', () => {
    const named = text.match(/release\/src\/[\w/.-]+\.ts/g) ?? [];
    assert.ok(named.length > 0);
    assert.deepEqual(
      named.filter((file) => !existsSync(join(ROOT_DIR, file))),
      [],
    );
  });
});
