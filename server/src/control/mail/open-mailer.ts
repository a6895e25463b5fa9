/** Hands mails to the operator's mail server (SMTP), each over a connection of its own. */
import { createTransport } from 'nodemailer';

export type SmtpSettings = {
  host: string;
  port: number;
  /** `starttls` refuses a server that does not offer it: mails hold links that open accounts. */
  security: 'tls' | 'starttls' | 'none';
  user?: string;
  password?: string;
  /** The sender, `Millrace <millrace@example.com>`. */
  from: string;
  /** An authority that the system does not know, in PEM; for tests. */
  ca?: string;
};

export type AddressedMail = { id: string; to: string; subject: string; text: string };

/** `why` is a code and never a text of the server, which may repeat the address. */
export type MailAnswer = { ok: true } | { ok: false; isPermanent: boolean; why: string };

export type Mailer = {
  send(mail: AddressedMail): Promise<MailAnswer>;
  /** Connects and signs in, and sends nothing. */
  check(): Promise<MailAnswer>;
};

const TIMEOUT_MS = 10_000;

export function openMailer(settings: SmtpSettings): Mailer {
  const { host, port, security, user, password = '', from, ca } = settings;
  const transport = createTransport({
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(user === undefined ? {} : { auth: { user, pass: password } }),
    ...(ca === undefined ? {} : { tls: { ca } }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = /@([^>\s]+)/.exec(from)?.[1] ?? 'millrace.invalid';
  return {
    // The id of the mail is its Message-ID: a mail program shows a mail that was sent twice once.
    send: ({ id, to, subject, text }) =>
      answerOf(() => transport.sendMail({ from, to, subject, text, messageId: `<${id}@${domain}>`, headers: HEADERS })),
    check: () => answerOf(() => transport.verify()),
  };
}

/** Keeps absence notes from answering. */
const HEADERS = { 'Auto-Submitted': 'auto-generated' };

async function answerOf(work: () => Promise<unknown>): Promise<MailAnswer> {
  try {
    await work();
    return { ok: true };
  } catch (error) {
    return toFailure(error);
  }
}

/** A server that refuses the recipient or the content for good says no again; every other failure may pass. */
export function toFailure(error: unknown): Extract<MailAnswer, { ok: false }> {
  const { code, responseCode, command } = (error ?? {}) as {
    code?: unknown;
    responseCode?: unknown;
    command?: unknown;
  };
  const status = typeof responseCode === 'number' ? responseCode : undefined;
  const name = typeof code === 'string' && /^\w{1,40}$/.test(code) ? code : 'failed';
  const isPermanent = status !== undefined && status >= 500 && (command === 'RCPT TO' || command === 'DATA');
  return { ok: false, isPermanent, why: status === undefined ? name : `${name} ${status}` };
}
