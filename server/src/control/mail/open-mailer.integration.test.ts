import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type Certificates, openCertificates } from '../../../testing/certificates.ts';
import { startMailServer } from '../../../testing/mail-server.ts';
import { openMailer, type SmtpSettings } from './open-mailer.ts';

const LETTER = { id: 'mail_1', to: 'ann@example.com', subject: 'Über “uns”', text: 'Good day,\n\n.\nböse Zeile\n' };
const LOGIN = { user: 'mill', password: 'p:w/ä' };

let certificates: Certificates;
before(() => {
  certificates = openCertificates();
});
after(() => certificates[Symbol.dispose]());

const settings = (port: number, more: Partial<SmtpSettings> = {}): SmtpSettings => ({
  host: '127.0.0.1',
  port,
  security: 'starttls',
  from: 'Millrace <mill@example.com>',
  ca: certificates.authority,
  ...more,
});
const certificate = () => certificates.make({ names: 'IP:127.0.0.1' });

suite('the mailer', () => {
  test('encrypts with STARTTLS and signs in, and the mail arrives as it was', async () => {
    await using server = await startMailServer({ ...certificate(), login: LOGIN });
    const mailer = openMailer(settings(server.port, LOGIN));
    assert.deepEqual(await mailer.check(), { ok: true });
    assert.deepEqual(await mailer.send(LETTER), { ok: true });
    const [mail] = server.mails;
    assert.deepEqual(
      [mail?.isEncrypted, mail?.user, mail?.from, mail?.to],
      [true, 'mill', 'mill@example.com', [LETTER.to]],
    );
    assert.equal(mail?.subject, LETTER.subject);
    assert.equal(mail?.text.replaceAll('\r\n', '\n').trimEnd(), LETTER.text.trimEnd());
    assert.match(mail?.raw ?? '', /^Auto-Submitted: auto-generated\r$/m);
    assert.match(mail?.raw ?? '', /^Message-ID: <mail_1@example\.com>\r$/m);
  });

  test('speaks TLS from the first byte', async () => {
    await using server = await startMailServer({ ...certificate(), secure: true });
    assert.deepEqual(await openMailer(settings(server.port, { security: 'tls' })).send(LETTER), { ok: true });
    assert.equal(server.mails[0]?.isEncrypted, true);
  });

  test('hands nothing to a server that does not offer STARTTLS', async () => {
    await using server = await startMailServer();
    const answer = await openMailer(settings(server.port)).send(LETTER);
    assert.ok(!answer.ok && !answer.isPermanent, JSON.stringify(answer));
    assert.equal(server.tries(), 0);
  });

  test('hands nothing to a server whose certificate no known authority signed', async () => {
    await using server = await startMailServer(certificates.make({ names: 'IP:127.0.0.1', isSelfSigned: true }));
    const answer = await openMailer(settings(server.port)).send(LETTER);
    assert.ok(!answer.ok && !answer.isPermanent, JSON.stringify(answer));
    assert.equal(server.tries(), 0);
  });

  test('tells a wrong login by a code, without a word of the server', async () => {
    await using server = await startMailServer({ ...certificate(), login: LOGIN });
    const answer = await openMailer(settings(server.port, { ...LOGIN, password: 'wrong' })).check();
    assert.deepEqual(answer, { ok: false, isPermanent: false, why: 'EAUTH 535' });
  });

  test('tells a server that is away', async () => {
    const answer = await openMailer(settings(9)).send(LETTER);
    assert.ok(!answer.ok && !answer.isPermanent && /^E\w+$/.test(answer.why), JSON.stringify(answer));
  });
});
