import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { readMailSettings } from './mail-settings.ts';

function readWith(given: Record<string, string>) {
  const problems: string[] = [];
  const read = { text: (name: string) => given[name] ?? '', problem: (name: string) => void problems.push(name) };
  const settings = readMailSettings(read);
  return { ...settings, problems };
}

const GOOD = {
  MILLRACE_SMTP_URL: 'smtp://mill%40example.com:p%2Fw@mail.example.com',
  MILLRACE_MAIL_FROM: 'Millrace <mill@example.com>',
  MILLRACE_CONSOLE_URL: 'https://millrace.example.com/',
};

suite('the settings of mail', () => {
  test('are none at all, without a problem', () => {
    assert.deepEqual(readWith({}), { smtp: undefined, consoleUrl: undefined, problems: [] });
  });

  test('name the server, its login and its kind of encryption', () => {
    const { smtp, consoleUrl, problems } = readWith(GOOD);
    assert.deepEqual(problems, []);
    assert.equal(consoleUrl, 'https://millrace.example.com');
    const login = { user: 'mill@example.com', password: 'p/w', from: 'Millrace <mill@example.com>' };
    assert.deepEqual(smtp, { host: 'mail.example.com', port: 587, security: 'starttls', ...login });
    const tls = readWith({ ...GOOD, MILLRACE_SMTP_URL: 'smtps://mail.example.com' });
    assert.deepEqual([tls.smtp?.security, tls.smtp?.port], ['tls', 465]);
    const plain = readWith({ ...GOOD, MILLRACE_SMTP_URL: 'smtp+insecure://[::1]:2525' });
    assert.deepEqual([plain.smtp?.security, plain.smtp?.host, plain.smtp?.port], ['none', '::1', 2525]);
  });

  test('are refused where a mail could not be sent, or would hold a link to nowhere', () => {
    const { MILLRACE_SMTP_URL, MILLRACE_MAIL_FROM } = GOOD;
    assert.deepEqual(readWith({ ...GOOD, MILLRACE_SMTP_URL: 'https://mail.example.com' }).problems, [
      'MILLRACE_SMTP_URL',
    ]);
    assert.deepEqual(readWith({ ...GOOD, MILLRACE_SMTP_URL: 'smtp://host/path' }).problems, ['MILLRACE_SMTP_URL']);
    assert.deepEqual(readWith({ MILLRACE_SMTP_URL, MILLRACE_MAIL_FROM }).problems, ['MILLRACE_CONSOLE_URL']);
    assert.deepEqual(readWith({ ...GOOD, MILLRACE_CONSOLE_URL: 'millrace.example.com' }).problems, [
      'MILLRACE_CONSOLE_URL',
    ]);
    for (const from of ['', 'no address', 'a@b\r\nBcc: c@d', 'Two <a@b> <c@d>']) {
      assert.deepEqual(readWith({ ...GOOD, MILLRACE_MAIL_FROM: from }).problems, ['MILLRACE_MAIL_FROM'], from);
    }
  });
});
