import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { forbiddenLicences } from './allowed-licences.ts';
import type { Component } from './component.ts';
import { identifyLicences } from './identify-licences.ts';

function component(licence: string, kind: Component['kind'] = 'npm'): Component {
  return { kind, name: 'thing', version: '1.0.0', licence, purl: 'pkg:npm/thing@1.0.0' };
}

suite('a licence', () => {
  test('that is permissive is allowed anywhere', () => {
    assert.deepEqual(
      forbiddenLicences(['MIT', 'ISC', '(MIT OR GPL-3.0-only)', 'MIT AND Zlib'].map((id) => component(id))),
      [],
    );
  });

  test('that is not in the list is told, with the package and the place to allow it', () => {
    assert.deepEqual(forbiddenLicences([component('SSPL-1.0')]), [
      'thing 1.0.0 has the licence SSPL-1.0, which release/src/sbom/allowed-licences.ts does not allow',
    ]);
    for (const licence of ['unknown', 'MIT AND GPL-3.0-only', 'AGPL-3.0-only', ''])
      assert.equal(forbiddenLicences([component(licence)]).length, 1, licence);
  });

  test('of the base is allowed for Debian packages and for nothing else', () => {
    assert.deepEqual(forbiddenLicences([component('LGPL-2.1-or-later', 'deb')]), []);
    assert.equal(forbiddenLicences([component('LGPL-2.1-or-later', 'npm')]).length, 1);
  });

  test('of a part is looked at as well', () => {
    const whole = { ...component('MIT'), parts: [component('BUSL-1.1')] };
    assert.match(forbiddenLicences([whole]).join(), /BUSL-1\.1/);
  });

  test('is known by its text', () => {
    assert.deepEqual(identifyLicences('Apache License\n   Version 2.0, January 2004'), ['Apache-2.0']);
    const bsd = 'Redistribution and use in source and binary forms, with or without';
    assert.deepEqual(identifyLicences(bsd), ['BSD-2-Clause']);
    assert.deepEqual(identifyLicences(`${bsd}\n   * Neither the name of Google`), ['BSD-3-Clause']);
    assert.deepEqual(identifyLicences('All rights reserved.'), []);
  });
});
