/** A real mail server on this machine that keeps what it is sent, and fails as it is told to. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export type ReceivedMail = {
  from: string;
  to: string[];
  /** The whole mail as it came over the wire. */
  raw: string;
  /** The subject, and the text with its lines joined again. */
  subject: string;
  text: string;
  isEncrypted: boolean;
  user: string | undefined;
};

export type MailServer = AsyncDisposable & {
  port: number;
  mails: ReceivedMail[];
  /** Mails that came in, also those that were refused. */
  tries(): number;
  /** The status for every recipient from now on; undefined to take mails again. */
  refuseWith(status: number | undefined): void;
  /** The next mail to this address after those that were taken before; undefined while there is none. */
  take(address: string): ReceivedMail | undefined;
};

export type MailServerOptions = Pick<SMTPServerOptions, 'key' | 'cert' | 'secure'> & {
  login?: { user: string; password: string };
  port?: number;
};

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export async function startMailServer({ login, port = 0, ...tls }: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const taken = new Set<number>();
  let status: number | undefined;
  let tries = 0;
  const server = new SMTPServer({
    ...tls,
    disabledCommands: [...(login === undefined ? ['AUTH'] : []), ...(tls.key === undefined ? ['STARTTLS'] : [])],
    authOptional: login === undefined,
    onAuth({ username, password }, _session, done) {
      const isRight = username === login?.user && password === login?.password;
      if (isRight) done(null, { user: username });
      else done(new Error('wrong login'));
    },
    onRcptTo(_address, _session, done) {
      tries += 1;
      if (status === undefined) done();
      else done(Object.assign(new Error('no such person here'), { responseCode: status }));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        const raw = Buffer.concat(chunks).toString();
        const to = rcptTo.map(({ address }) => address);
        mails.push({ from, to, raw, ...readMail(raw), isEncrypted: session.secure, user: session.user });
        done();
      });
    },
  });
  // A client that hangs up is no failure of a test.
  server.on('error', () => undefined);
  const listening = server.listen(port, '127.0.0.1');
  await once(listening, 'listening');
  return {
    port: (listening.address() as AddressInfo).port,
    mails,
    tries: () => tries,
    refuseWith: (next) => void (status = next),
    take(address) {
      const mail = mails.find(({ to }, at) => to.includes(address) && !taken.has(at));
      if (mail !== undefined) taken.add(mails.indexOf(mail));
      return mail;
    },
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function readMail(raw: string): { subject: string; text: string } {
  const end = raw.indexOf('\r\n\r\n');
  const head = raw.slice(0, end).replaceAll(/\r\n[ \t]+/g, ' ');
  const body = raw.slice(end + 4);
  const encoding = /^content-transfer-encoding: *(\S+)/im.exec(head)?.[1]?.toLowerCase();
  const subject = /^subject: *(.*)$/im.exec(head)?.[1] ?? '';
  return { subject: decodeWords(subject), text: decodeBody(body, encoding) };
}

function decodeBody(body: string, encoding: string | undefined): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString();
  return encoding === 'quoted-printable' ? decodeQuoted(body.replaceAll(/=\r\n/g, '')) : body;
}

function decodeQuoted(text: string): string {
  return Buffer.from(
    text.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();
}

/** RFC 2047: `=?UTF-8?Q?…?=`. */
function decodeWords(text: string): string {
  return text
    .replaceAll(/\?= +=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([bq])\?(.*?)\?=/gi, (_, kind: string, word: string) =>
      kind.toLowerCase() === 'b' ? Buffer.from(word, 'base64').toString() : decodeQuoted(word.replaceAll('_', ' ')),
    );
}
