import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { checkOutVersion } from './other-version.ts';

suite('another version', () => {
  test('has its own packages of ours, runs, and is gone afterwards', async () => {
    let dir = '';
    {
      using other = await checkOutVersion('a2fef30');
      dir = other.dir;
      assert.ok(existsSync(other.serverMain));
      assert.equal(realpathSync(join(dir, 'node_modules/@millrace/contract')), realpathSync(join(dir, 'contract')));
      const code = `import { readConfig } from '${join(dir, 'server/src/config.ts')}'; console.log(readConfig({ MILLRACE_ROLES: 'collect' }).ok);`;
      assert.equal(execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }), 'true\n');
      assert.match(readFileSync(join(dir, 'package.json'), 'utf8'), /"name": "millrace"/);
    }
    assert.ok(!existsSync(dir));
  });

  test('that the history does not hold is told in words', async () => {
    await assert.rejects(checkOutVersion('0000000000000000000000000000000000000000'), /whole history/);
  });
});
