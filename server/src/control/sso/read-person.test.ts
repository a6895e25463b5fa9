import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { readPerson, type Rules } from './read-person.ts';

const RULES: Rules = { groupsClaim: 'groups', groupRoles: [], defaultRole: 'viewer', domains: [] };
const ANN = { sub: 's', email: 'ann@a.example', email_verified: true };
const read = (claims: Record<string, unknown>, rules: Partial<Rules> = {}, userInfo?: Record<string, unknown>) => {
  const info = userInfo === undefined ? undefined : { sub: 's', ...userInfo };
  const person = readPerson({ claims: { sub: 's', ...claims }, userInfo: info }, { ...RULES, ...rules });
  return person.ok ? person.person : person.why;
};

suite('the claims of a provider', () => {
  test('become a person', () => {
    assert.deepEqual(read({ ...ANN, name: ' Ann\u0000 A. ' }), {
      subject: 's',
      email: 'ann@a.example',
      name: 'Ann  A.',
      role: 'viewer',
    });
    assert.deepEqual(read({}, {}, { email: 'b@a.example', email_verified: true }), {
      subject: 's',
      email: 'b@a.example',
      name: 'b@a.example',
      role: 'viewer',
    });
  });

  test('never mix the address of one document with the proof of another', () => {
    assert.equal(
      read({ email: 'victim@a.example' }, {}, { email: 'eve@a.example', email_verified: true }),
      'email_unverified',
    );
    assert.equal(read({ email_verified: true }, {}, { email: 'victim@a.example' }), 'email_unverified');
  });

  test('need an address that is one, checked, and of a domain of the connection', () => {
    for (const email of ['', 'ann', 'a@b@c.example', 'a b@c.example', 'a@', 7, ['a@b.example'], undefined]) {
      assert.equal(read({ ...ANN, email }), 'no_email', String(email));
    }
    assert.equal(read({ ...ANN, email_verified: 'true' }), 'email_unverified');
    assert.equal(read(ANN, { domains: ['b.example'] }), 'email_foreign');
    assert.equal(read({ ...ANN, email: 'ann@xa.example' }, { domains: ['a.example'] }), 'email_foreign');
    assert.notEqual(read({ ...ANN, email: 'ann@A.Example' }, { domains: ['a.example'] }), 'email_foreign');
  });

  test('give the highest role of the groups, or the default', () => {
    const groupRoles = [
      { group: 'v', role: 'viewer' },
      { group: 'o', role: 'owner' },
      { group: 'd', role: 'developer' },
    ];
    const role = (groups: unknown, defaultRole: string | null = null) => {
      const person = read({ ...ANN, groups }, { groupRoles, defaultRole });
      return typeof person === 'string' ? person : person.role;
    };
    assert.equal(role(['v', 'd']), 'developer');
    assert.equal(role(['d', 'o', 'v']), 'owner');
    assert.equal(role('d'), 'developer');
    assert.equal(role(['V']), undefined);
    assert.equal(role([{ name: 'o' }, 7]), undefined);
    assert.equal(role(undefined), undefined);
    assert.equal(role([], 'viewer'), 'viewer');
    assert.equal(role(['d'], 'viewer'), 'developer');
    assert.equal(role(['v'], 'admin'), 'admin');
  });
});
