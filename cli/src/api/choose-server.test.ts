import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Environment } from '../environment.ts';
import { chooseServer, serverAddress } from './choose-server.ts';

const NOTHING = { server: undefined, token: undefined, collect: undefined, writeKey: undefined, configDir: '/nowhere' };
const PROFILES = {
  default: { server: 'https://a.example', token: 'mlr_a' },
  other: { server: 'https://b.example', session: 'session-b', workspace: 'ws_1' },
};

test('options win over a named profile, which wins over the environment, which wins over the default profile', () => {
  const environment = { ...NOTHING, server: 'https://env.example', token: 'mlr_env' };
  const choose = (options: object, env: Environment = environment) => {
    const { server, credential } = chooseServer(options, { environment: env, profiles: PROFILES });
    return [server, credential];
  };
  assert.deepEqual(choose({}, NOTHING), ['https://a.example', { token: 'mlr_a' }]);
  assert.deepEqual(choose({}), ['https://env.example', { token: 'mlr_env' }]);
  assert.deepEqual(choose({ profile: 'other' }), ['https://b.example', { session: 'session-b' }]);
  assert.deepEqual(choose({ server: 'https://c.example', token: 'mlr_c' }), ['https://c.example', { token: 'mlr_c' }]);
});

test('a credential of a profile stays with its server', () => {
  const known = { environment: NOTHING, profiles: PROFILES };
  assert.equal(chooseServer({ server: 'https://c.example' }, known).credential, undefined);
  assert.deepEqual(chooseServer({ server: 'https://a.example/' }, known).credential, { token: 'mlr_a' });
});

test('the token of the environment goes to the server of the environment, or to --server where it names none', () => {
  const choose = (options: object, env: Partial<Environment>) =>
    chooseServer(options, { environment: { ...NOTHING, token: 'mlr_env', ...env }, profiles: PROFILES }).credential;
  const server = 'https://env.example';
  assert.deepEqual(choose({}, { server }), { token: 'mlr_env' });
  assert.deepEqual(choose({ server: 'https://env.example/api/v1' }, { server }), { token: 'mlr_env' });
  assert.deepEqual(choose({ server: 'https://c.example' }, {}), { token: 'mlr_env' });
  assert.equal(choose({ server: 'https://c.example' }, { server }), undefined);
  assert.deepEqual(choose({}, {}), { token: 'mlr_a' }, 'the default profile has its own credential');
  assert.deepEqual(choose({ profile: 'other' }, { server: 'https://b.example' }), { session: 'session-b' });
});

test('the collect address of the environment is left out when an option names the server', () => {
  const environment = { ...NOTHING, server: 'https://env.example', collect: 'https://collect.example' };
  const choose = (options: object) => chooseServer(options, { environment, profiles: PROFILES }).collect;
  assert.equal(choose({}), 'https://collect.example');
  assert.equal(choose({ server: 'https://c.example' }), undefined);
  assert.equal(choose({ profile: 'other' }), undefined);
});

test('a profile called as something that every object has is no profile', () => {
  assert.throws(
    () => chooseServer({ profile: 'constructor' }, { environment: NOTHING, profiles: PROFILES }),
    /no profile constructor/,
  );
});

test('an address may be that of the console or of the API', () => {
  assert.equal(serverAddress('https://a.example/'), 'https://a.example');
  assert.equal(serverAddress('https://a.example/millrace/api/v1'), 'https://a.example/millrace');
  assert.throws(() => serverAddress('a.example'), /is no address/);
  assert.throws(() => chooseServer({}, { environment: NOTHING, profiles: {} }), /no server to ask/);
  assert.throws(() => chooseServer({ profile: 'x' }, { environment: NOTHING, profiles: PROFILES }), /no profile x/);
});
