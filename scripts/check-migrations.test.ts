import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { checkMigrations, previousRelease } from './check-migrations.ts';

const RELEASES = { version: '0.3.0', previous: '0.2.0' };
const problemsOf = (text: string) => checkMigrations([{ name: '0099_x.sql', text }], RELEASES);

suite('a migration', () => {
  test('carries its mark in the first line', () => {
    assert.match(problemsOf('CREATE TABLE x (id int)').join(), /does not begin with/);
    assert.match(problemsOf('-- why\n-- least version: 0.2.0\nSELECT 1').join(), /does not begin with/);
    assert.deepEqual(problemsOf('-- least version: 0.2.0\nCREATE TABLE x (id int)'), []);
  });

  test('lets the version before run after it', () => {
    assert.match(problemsOf('-- least version: 0.3.0\nSELECT 1').join(), /0\.2\.0 must run after it/);
  });

  test('that takes something away says since which version it is unused', () => {
    for (const sql of [
      'DROP TABLE x',
      'ALTER TABLE x DROP COLUMN y',
      'ALTER TABLE x RENAME COLUMN y TO z',
      'ALTER TABLE x ALTER COLUMN y SET NOT NULL',
      'ALTER TABLE x ALTER COLUMN y TYPE bigint',
    ]) {
      assert.match(problemsOf(`-- least version: 0.2.0\n${sql}`).join(), /takes something away/, sql);
      assert.deepEqual(problemsOf(`-- least version: 0.2.0\n-- unused since: since 0.2.0\n${sql}`), [], sql);
    }
  });

  test('is held against the last version that the changelog calls released', () => {
    const changelog = '# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-01-01)\n\n## 0.10.0\n\n## [0.3.0]\n';
    assert.equal(previousRelease(changelog, '0.3.0'), '0.2.0');
    assert.equal(previousRelease(changelog, '0.1.0'), undefined);
  });
});
