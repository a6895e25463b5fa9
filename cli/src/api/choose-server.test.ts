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

test('an address may be that of the console or of the API', () => {
  assert.equal(serverAddress('https://a.example/'), 'https://a.example');
  assert.equal(serverAddress('https://a.example/millrace/api/v1'), 'https://a.example/millrace');
  assert.throws(() => serverAddress('a.example'), /is no address/);
  assert.throws(() => chooseServer({}, { environment: NOTHING, profiles: {} }), /no server to ask/);
  assert.throws(() => chooseServer({ profile: 'x' }, { environment: NOTHING, profiles: PROFILES }), /no profile x/);
});
