import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

/** Runs before the program: writes down each module that it loads. */
const TELL_MODULES = `data:text/javascript,
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  process.on('exit', () => console.log(loaded.join('\\n')));`;
const SLOW_TO_LOAD = /node_modules\/(pg|undici|typebox|fastify|nodemailer|@nats-io)\//;

test('a short command starts without the packages that only the server needs', () => {
  const main = join(import.meta.dirname, 'main.ts');
  const args = ['--import', TELL_MODULES, main, '--version'];
  const printed = execFileSync(process.execPath, args, { encoding: 'utf8' }).split('\n');
  assert.ok(printed.some((line) => line.endsWith('/commands/doctor.ts')));
  assert.deepEqual(
    printed.filter((line) => SLOW_TO_LOAD.test(line)),
    [],
  );
});
