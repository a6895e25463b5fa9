import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftOf, toBody } from './draft.ts';

test('a new connection sends what was typed, without empty rows', () => {
  const draft = {
    ...draftOf(null),
    issuer: ' https://idp.example ',
    clientId: 'c',
    clientSecret: 's',
    groupRoles: [
      { group: 'staff', role: 'viewer' as const },
      { group: ' ', role: 'admin' as const },
    ],
    domains: 'Shop.example\n\nother.example, shop.example',
  };
  assert.deepEqual(toBody(draft, null), {
    issuer: 'https://idp.example',
    clientId: 'c',
    clientSecret: 's',
    groupsClaim: 'groups',
    groupRoles: [{ group: 'staff', role: 'viewer' }],
    defaultRole: null,
    domains: ['shop.example', 'other.example'],
  });
});

test('a change sends neither the secret that stays nor the issuer', () => {
  const connection = {
    id: 'sso_1',
    issuer: 'https://idp.example',
    clientId: 'c',
    groupsClaim: 'groups',
    groupRoles: [],
    defaultRole: null,
    domains: [],
    required: false,
    breakGlassOwners: [],
    lastSignInAt: null,
    createdAt: '',
    updatedAt: '',
  };
  const body = toBody({ ...draftOf(connection), defaultRole: '' }, connection);
  assert.deepEqual(body, { groupsClaim: 'groups', groupRoles: [], defaultRole: null, domains: [] });
});
