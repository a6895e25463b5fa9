/** The import boundaries are promises: each one is broken on purpose here, and lint has to see it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite, test } from 'node:test';
import { checkRooms, tableProblems } from './check-rooms.ts';
import { ROOMS } from './rooms.ts';
import { ROOT_DIR } from './project-files.ts';

type Planted = { promise: string; file: string; code: string; says: RegExp };

const violations: Planted[] = [
  {
    promise: 'contract imports no package',
    file: 'contract/src/planted.ts',
    code: "import pino from 'pino';\nexport const x = pino;",
    says: /imports nothing/,
  },
  {
    promise: 'contract imports no Node module outside signature.ts',
    file: 'contract/src/planted.ts',
    code: "import { readFileSync } from 'node:fs';\nexport const x = readFileSync;",
    says: /imports nothing/,
  },
  {
    promise: 'contract does not reach into the server',
    file: 'contract/src/planted.ts',
    code: "import { x as y } from '../../server/src/config.ts';\nexport const x = y;",
    says: /imports nothing/,
  },
  {
    promise: 'the schemas of the control API import typebox and no other package',
    file: 'contract/src/control/planted.ts',
    code: "import pino from 'pino';\nexport const x = pino;",
    says: /made with typebox/,
  },
  {
    promise: 'the schemas of the control API do not reach into the server',
    file: 'contract/src/control/planted.ts',
    code: "import { x as y } from '../../../server/src/config.ts';\nexport const x = y;",
    says: /made with typebox/,
  },
  ...['node:fs', 'typebox', '../../../server/src/config.ts'].map((path) => ({
    promise: `the help texts run in browsers and do not import ${path}`,
    file: 'contract/src/help/planted.ts',
    code: `import { x as y } from '${path}';\nexport const x = y;`,
    says: /run in browsers/,
  })),
  ...['node:fs', 'typebox', '../../../server/src/config.ts'].map((path) => ({
    promise: `definitions are checked in browsers too and do not import ${path}`,
    file: 'contract/src/audiences/planted.ts',
    code: `import { x as y } from '${path}';\nexport const x = y;`,
    says: /checked in browsers too/,
  })),
  {
    promise: 'the demo asks its own server in one file only',
    file: 'server/src/demo/shop/planted.ts',
    code: "export const x = () => fetch('http://127.0.0.1');",
    says: /makes requests to the outside/,
  },
  ...(
    [
      ['format', "import { x as y } from '../api/x.ts';", /only writes numbers/],
      ['api', "import { x as y } from '../parts/x.tsx';", /draws nothing/],
      ['parts', "import { x as y } from '../screens/home/x.tsx';", /knows no screen/],
      ['shell', "import { x as y } from '../screens/home/x.tsx';", /through routes/],
      ['screens/home', "import { x as y } from '../sources/x.tsx';", /no other screen/],
      ['screens/home', "import { Source as y } from '@millrace/contract/control';", /use import type/],
    ] as const
  ).map(([folder, code, says]) => ({
    promise: `console/src/${folder} does not have: ${code}`,
    file: `console/src/${folder}/planted.ts`,
    code: `${code}\nexport const x = y;`,
    says,
  })),
  {
    promise: 'a screen of the console does not speak to the server by itself',
    file: 'console/src/screens/home/planted.ts',
    code: "export const x = fetch('/api/v1/me');",
    says: /Only console\/src\/api/,
  },
  ...['collect', 'control', 'store'].map((folder) => ({
    promise: `what roles share over HTTP does not import ${folder}`,
    file: 'server/src/http/planted.ts',
    code: `import { x as y } from '../${folder}/x.ts';\nexport const x = y;`,
    says: /Only start-roles.ts wires/,
  })),
  ...(['deliver', 'control', 'compute'] as const).map((role) => rolesMeet('collect', role)),
  ...(['collect', 'control', 'compute'] as const).map((role) => rolesMeet('deliver', role)),
  ...(['collect', 'deliver', 'compute'] as const).map((role) => rolesMeet('control', role)),
  ...(['collect', 'deliver', 'control'] as const).map((role) => rolesMeet('compute', role)),
  ...['collect', 'deliver', 'control', 'compute', 'store'].map((folder) => ({
    promise: `${folder} does not import NATS`,
    file: `server/src/${folder}/planted.ts`,
    code: "import { connect } from '@nats-io/transport-node';\nexport const x = connect;",
    says: /server\/src\/stream\//,
  })),
  ...['collect', 'deliver'].map((folder) => ({
    promise: `${folder} does not import PostgreSQL`,
    file: `server/src/${folder}/planted.ts`,
    code: "import pg from 'pg';\nexport const x = pg;",
    says: /never touch PostgreSQL/,
  })),
  ...['control', 'compute', 'stream'].map((folder) => ({
    promise: `${folder} does not import PostgreSQL`,
    file: `server/src/${folder}/planted.ts`,
    code: "import pg from 'pg';\nexport const x = pg;",
    says: /server\/src\/store\//,
  })),
  {
    promise: 'collect does not import the store',
    file: 'server/src/collect/planted.ts',
    code: "import { x as y } from '../store/sources.ts';\nexport const x = y;",
    says: /never touch PostgreSQL/,
  },
  {
    promise: 'the stream knows no role',
    file: 'server/src/stream/planted.ts',
    code: "import { x as y } from '../collect/serve-collect.ts';\nexport const x = y;",
    says: /knows no role/,
  },
  {
    promise: 'main.ts does not import NATS',
    file: 'server/src/main.ts',
    code: "import { connect } from '@nats-io/transport-node';\nexport const x = connect;",
    says: /server\/src\/stream\//,
  },
  ...['collect', 'compute', 'control', 'store', 'stream', 'http', 'deliver'].map((folder) => ({
    promise: `S31: ${folder} does not import undici: only the guarded client makes requests to the outside`,
    file: `server/src/${folder}/planted.ts`,
    code: "import { request } from 'undici';\nexport const x = request;",
    says: /use openClient/,
  })),
  ...['main.ts', 'deliver/planted.test.ts'].map((file) => ({
    promise: `S31: ${file} does not import undici`,
    file: `server/src/${file}`,
    code: "import { request } from 'undici';\nexport const x = request;",
    says: /use openClient/,
  })),
  ...['collect', 'control', 'deliver', 'deliver/client'].map((folder) => ({
    promise: `S31: ${folder} does not fetch`,
    file: `server/src/${folder}/planted.ts`,
    code: "export const x = () => fetch('https://example.com/');",
    says: /use openClient/,
  })),
  ...['node:http', 'node:https', 'http', 'node:http2'].flatMap((name) =>
    ['deliver', 'deliver/client'].map((folder) => ({
      promise: `S31: ${folder} does not import ${name}`,
      file: `server/src/${folder}/planted.ts`,
      code: `import { request } from '${name}';\nexport const x = request;`,
      says: /use openClient/,
    })),
  ),
  {
    promise: 'the guarded client does not import control',
    file: 'server/src/deliver/client/planted.ts',
    code: "import { x as y } from '../../control/x.ts';\nexport const x = y;",
    says: /Roles never import roles/,
  },
  {
    promise: 'only config.ts reads the environment',
    file: 'server/src/collect/planted.ts',
    code: 'export const x = process.env.HOME;',
    says: /process\.env/,
  },
  {
    promise: 'e2e imports nothing of ours',
    file: 'e2e/src/planted.ts',
    code: "import { x as y } from '@millrace/contract';\nexport const x = y;",
    says: /from outside/,
  },
  {
    promise: 'imports name the file that exists, which ends in .ts',
    file: 'server/src/planted.ts',
    code: "import { x as y } from './config.js';\nexport const x = y;",
    says: /extension/,
  },
];

suite('lint guards the import boundaries', () => {
  for (const violation of violations) {
    test(violation.promise, () => {
      const { status, output } = lint(violation);
      assert.notEqual(status, 0, output);
      assert.match(output, violation.says);
    });
  }

  test('what follows the rules passes', () => {
    for (const [file, code] of [
      ['contract/src/signature.ts', "import { createHmac } from 'node:crypto';\nexport const x = createHmac;"],
      ['contract/src/control/x.ts', "import { Type } from 'typebox';\nexport const x = Type;"],
      ['server/src/control/x.ts', "import { y } from '../store/y.ts';\nexport const x = y;"],
      ['server/src/deliver/client/x.ts', "import { Client } from 'undici';\nexport const x = Client;"],
      ['server/src/deliver/x.test.ts', "import { createServer } from 'node:http';\nexport const x = createServer;"],
    ] as const) {
      const { status, output } = lint({ promise: '', file, code, says: /./ });
      assert.equal(status, 0, output);
    }
  });
});

suite('the rooms of server/src', () => {
  test('keep their rules today', () => {
    assert.deepEqual(tableProblems(), []);
    assert.deepEqual(checkRooms(ROOT_DIR), []);
  });

  for (const [room, { imports }] of Object.entries(ROOMS)) {
    const forbidden = ['control/keys', 'demo', 'collect'].find((other) => other !== room && !covers(imports, other));
    const isFile = room === 'log' || room === 'breathe';
    const file = isFile ? `${room}.ts` : join(room, 'planted.ts');
    test(`${room} does not import ${forbidden}`, () => {
      const up = '../'.repeat(file.split('/').length - 1) || './';
      const files = { [file]: `import { x as y } from '${up}${forbidden}/x.ts';\nexport const x = y;` };
      assert.match(problemsOf(files), new RegExp(`server/src/.* imports ${forbidden}: `));
    });
  }

  test('have twenty files at most', () => {
    const files = Array.from({ length: 21 }, (_, nth) => [`collect/x${nth}.ts`, 'export const x = 1;']);
    assert.match(problemsOf(Object.fromEntries(files)), /collect holds 21 files/);
  });

  test('are named in the table', () => {
    assert.match(problemsOf({ 'attic/x.ts': 'export const x = 1;' }), /is in no room/);
  });

  test('import no test code', () => {
    const files = { 'collect/x.ts': "import { x as y } from '../../testing/stack.ts';\nexport const x = y;" };
    assert.match(problemsOf(files), /outside of server\/src/);
  });

  test('have no circle inside, not even one of types', () => {
    const files = {
      'collect/a.ts': "import type { B } from './b.ts';\nexport type A = B;",
      'collect/b.ts': "import type { C } from './c.ts';\nexport type B = C;",
      'collect/c.ts': "import type { A } from './a.ts';\nexport type C = A[];",
    };
    assert.match(problemsOf(files), /circle of imports: collect\/a.ts → collect\/b.ts → collect\/c.ts → collect\/a.ts/);
  });
});

function covers(imports: readonly string[], room: string): boolean {
  return imports.includes(room) || imports.includes(`${dirname(room)}/*`);
}

function problemsOf(files: Record<string, string>): string {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-rooms-'));
  try {
    for (const [file, code] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, 'server/src', file)), { recursive: true });
      writeFileSync(join(dir, 'server/src', file), code);
    }
    return checkRooms(dir).join('\n');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function rolesMeet(role: string, other: string): Planted {
  return {
    promise: `${role} does not import ${other}`,
    file: `server/src/${role}/planted.ts`,
    code: `import { x as y } from '../${other}/x.ts';\nexport const x = y;`,
    says: /Roles never import roles/,
  };
}

function lint({ file, code }: Planted): { status: number | null; output: string } {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-boundaries-'));
  try {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    copyFileSync(join(ROOT_DIR, '.oxlintrc.json'), join(dir, '.oxlintrc.json'));
    writeFileSync(join(dir, file), code);
    const done = spawnSync(join(ROOT_DIR, 'node_modules/.bin/oxlint'), ['--deny-warnings'], {
      cwd: dir,
      encoding: 'utf8',
    });
    return { status: done.status, output: done.stdout + done.stderr };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
