/** The webhook story once more, told to the packed bundle on the oldest Node that it promises. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { gotten } from '../run-client.ts';
import { packedTarballs } from './install-packed.ts';

const dir = mkdtempSync(join(tmpdir(), 'millrace-bundle-'));
after(() => rmSync(dir, { recursive: true }));
const tarball = packedTarballs().find((file) => /\/millrace-\d/.test(file)) ?? '';
execFileSync('tar', ['-xzf', tarball, '-C', dir, '--strip-components=1']);
process.env['E2E_START_COMMAND'] = `${gotten('node-22/bin/node')} ${join(dir, 'bin/millrace.cjs')} start`;
await import('../webhook-story.test.ts');
