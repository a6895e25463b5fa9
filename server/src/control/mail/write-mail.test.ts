import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { confirmMail, invitationMail, noticeMail, plain, resetMail } from './write-mail.ts';

const consoleUrl = 'https://millrace.example.com';
const secret = 'mll_secret';

suite('the text of a mail', () => {
  test('holds one link, to the console that the operator named', () => {
    const invited = invitationMail({ consoleUrl, secret, workspace: 'Shop', role: 'viewer' });
    assert.match(invited.subject, /“Shop”/);
    const linksIn = (text: string) => text.match(/\w+:\/\/\S+/g);
    assert.deepEqual(linksIn(invited.text), [`${consoleUrl}/join#token=${secret}`]);
    assert.deepEqual(linksIn(resetMail({ consoleUrl, secret }).text), [`${consoleUrl}/reset#token=${secret}`]);
    assert.deepEqual(linksIn(confirmMail({ consoleUrl, secret }).text), [
      `${consoleUrl}/confirm-email#token=${secret}`,
    ]);
    assert.equal(linksIn(noticeMail('email_changed', consoleUrl).text), null);
    assert.equal(linksIn(noticeMail('recovery_code_used', consoleUrl).text), null);
  });

  test('makes a name of a workspace harmless: no link, no line, no end', () => {
    assert.equal(
      plain('Win at https://evil.example/x\r\nBcc: a@b.example'),
      'Win at https evil example x Bcc: a b example',
    );
    assert.equal(plain('  Acme\u202e Inc.  '), 'Acme Inc.');
    assert.equal(plain('x'.repeat(500)).length, 60);
    assert.equal(plain('A”. Click <b>'), 'A . Click b');
  });
});
