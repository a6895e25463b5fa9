import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { DEFAULTS, type Name } from './read-setting.ts';
import { showSettings } from './show-settings.ts';

const shownOf = (name: Name, value: string) =>
  showSettings((asked) => (asked === name ? value : DEFAULTS[asked])).find((each) => each.name === name)?.value;

suite('settings are shown', () => {
  test('with their values, and whether those are the defaults', () => {
    const shown = showSettings((name) => (name === 'MILLRACE_RETENTION' ? '24h' : DEFAULTS[name]));
    assert.equal(shown.length, Object.keys(DEFAULTS).length);
    assert.deepEqual(
      shown.find(({ name }) => name === 'MILLRACE_RETENTION'),
      {
        name: 'MILLRACE_RETENTION',
        value: '24h',
        isDefault: false,
      },
    );
    assert.ok(shown.filter(({ isDefault }) => isDefault).length === shown.length - 1);
  });

  test('without keys, tokens and passwords', () => {
    assert.equal(shownOf('MILLRACE_KEYS', '1:c2VjcmV0'), '***');
    assert.equal(shownOf('MILLRACE_BOOTSTRAP_TOKEN', 'secret'), '***');
    const urls: [Name, string][] = [
      ['MILLRACE_DATABASE_URL', 'postgres://app:s3cret@db/millrace?sslmode=require&password=s3cret&sslpassword=s3cret'],
      ['MILLRACE_MIGRATION_DATABASE_URL', 'postgres://:s3cret@db/millrace'],
      ['MILLRACE_NATS_URL', 'nats://user:s3cret@one:4222, s3cret@two:4222,tls://s3cret@three'],
      ['MILLRACE_NATS_URL', 'nats://user:p%ss%20s3cret@'],
    ];
    for (const name of ['MILLRACE_DATABASE_URL', 'MILLRACE_MIGRATION_DATABASE_URL'] as const) {
      urls.push([name, 'postgres://app:x,s3cret@db/millrace'], [name, 'postgres://app:1,s3cret,y@db:5432/millrace']);
      urls.push([name, 'postgres://app:12/s3cret@db/millrace'], [name, 'postgres://app:#s3cret@db/millrace']);
      urls.push([name, 'postgres://app:12?s3cret@db/millrace']);
      urls.push([name, 'host=db password=s3cret'], [name, 'app:s3cret@db']);
    }
    for (const [name, url] of urls) assert.doesNotMatch(shownOf(name, url) ?? '', /s3cret/, url);
    assert.match(shownOf('MILLRACE_DATABASE_URL', 'postgres://app:x@db/millrace') ?? '', /app.*@db\/millrace/);
    assert.equal(shownOf('MILLRACE_NATS_URL', 'one:4222, tls://two'), 'nats://one:4222,tls://two');
    assert.equal(shownOf('MILLRACE_NATS_KEY_FILE', '/run/key.pem'), '/run/key.pem');
  });
});
