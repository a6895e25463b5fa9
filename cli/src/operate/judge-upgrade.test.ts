import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { judgeUpgrade } from './judge-upgrade.ts';

const process = (version: string, ...roles: string[]) => ({
  id: version + roles.join(),
  roles,
  version,
  startedAt: '',
});
const migrations = (change: object = {}) => ({
  applied: ['0001_a.sql'],
  pending: [],
  unknown: [],
  refused: undefined,
  leastVersion: '0.1.0',
  ...change,
});

suite('upgrade-check', () => {
  test('has nothing to say when everything is of this version', () => {
    const { steps, blockers, canGoBack } = judgeUpgrade(
      { processes: [process('0.2.0', 'collect')], natsRightsMissing: 0, migrations: migrations() },
      '0.2.0',
    );
    assert.deepEqual([steps, blockers, canGoBack], [[], [], true]);
  });

  test('lists backup, rights, migrations and then the roles, control first', () => {
    const processes = [
      process('0.1.0', 'deliver'),
      process('0.1.0', 'collect'),
      process('0.2.0', 'collect'),
      process('0.1.0', 'control'),
    ];
    const { steps } = judgeUpgrade(
      { processes, natsRightsMissing: 2, migrations: migrations({ pending: ['0011_b.sql'] }) },
      '0.2.0',
    );
    assert.deepEqual(
      steps.map((step) => /backup|NATS users|migrations|role \w+/.exec(step)?.[0]),
      ['backup', 'NATS users', 'migrations', 'role control', 'role collect', 'role deliver'],
    );
  });

  test('is stopped by a database that needs another version, and by processes that are too old', () => {
    const needs = {
      processes: [process('0.1.0', 'control')],
      natsRightsMissing: 0,
      migrations: migrations({ refused: 'start version 0.9.0 or newer' }),
    };
    assert.match(judgeUpgrade(needs, '0.4.0').blockers.join('\n'), /0\.9\.0 or newer[\s\S]*version 0\.1\.0 run/);
    assert.deepEqual(judgeUpgrade({ ...needs, migrations: migrations() }, '0.2.0').blockers, []);
  });

  test('says when there is no way back without a backup', () => {
    const needs = { processes: [process('0.2.0', 'control')], natsRightsMissing: 0 };
    assert.equal(
      judgeUpgrade({ ...needs, migrations: migrations({ leastVersion: '0.3.0' }) }, '0.3.0').canGoBack,
      false,
    );
    assert.equal(
      judgeUpgrade({ ...needs, migrations: migrations({ leastVersion: '0.2.0' }) }, '0.3.0').canGoBack,
      true,
    );
  });
});
