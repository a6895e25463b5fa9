type Name = 'MILLRACE_SMTP_URL' | 'MILLRACE_MAIL_FROM' | 'MILLRACE_CONSOLE_URL';
type Reader = { text(name: Name): string; problem(name: Name, what: string): void };

type Smtp = {
  host: string;
  port: number;
  security: 'tls' | 'starttls' | 'none';
  user?: string;
  password?: string;
  from: string;
};

export type MailSettings = { smtp: Smtp | undefined; consoleUrl: string | undefined };

const SCHEMES = {
  'smtps:': { security: 'tls', port: 465 },
  'smtp:': { security: 'starttls', port: 587 },
  'smtp+insecure:': { security: 'none', port: 25 },
} as const;

/** Never repeats a value in a problem: the URL may hold a password. */
export function readMailSettings(read: Reader): MailSettings {
  const consoleUrl = readConsoleUrl(read);
  const smtp = readSmtp(read);
  if (smtp !== undefined && consoleUrl === undefined && read.text('MILLRACE_CONSOLE_URL') === '') {
    read.problem('MILLRACE_CONSOLE_URL', 'must be set with MILLRACE_SMTP_URL: mails hold links to the console');
  }
  return { smtp, consoleUrl };
}

function readSmtp(read: Reader): Smtp | undefined {
  const text = read.text('MILLRACE_SMTP_URL');
  if (text === '') return undefined;
  const url = URL.parse(text);
  const scheme = SCHEMES[(url?.protocol ?? '') as keyof typeof SCHEMES] as (typeof SCHEMES)['smtp:'] | undefined;
  if (url === null || scheme === undefined || url.hostname === '' || !/^\/?$/.test(url.pathname + url.search)) {
    read.problem(
      'MILLRACE_SMTP_URL',
      'must be smtps://user:password@host:465 or smtp://user:password@host:587, with % codes for special characters',
    );
    return undefined;
  }
  const from = read.text('MILLRACE_MAIL_FROM');
  if (!/^(?:[^<>@\r\n]{0,100}<)?[^\s<>@]+@[^\s<>@]+>?$/.test(from)) {
    read.problem('MILLRACE_MAIL_FROM', 'must be set with MILLRACE_SMTP_URL: Millrace <millrace@example.com>');
  }
  const { security, port } = scheme;
  const login = loginOf(url);
  if (login === undefined) read.problem('MILLRACE_SMTP_URL', 'has a % in its login that begins no code: write %25');
  return {
    host: url.hostname.replaceAll(/^\[|\]$/g, ''),
    port: url.port === '' ? port : Number(url.port),
    security,
    ...login,
    from,
  };
}

/** Undefined for codes that stand for no character. */
function loginOf({ username, password }: URL): { user?: string; password?: string } | undefined {
  if (username === '') return {};
  try {
    return { user: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    return undefined;
  }
}

function readConsoleUrl(read: Reader): string | undefined {
  const text = read.text('MILLRACE_CONSOLE_URL');
  if (text === '') return undefined;
  const url = URL.parse(text);
  if (
    (url?.protocol !== 'http:' && url?.protocol !== 'https:') ||
    url.pathname !== '/' ||
    url.search + url.hash !== ''
  ) {
    read.problem('MILLRACE_CONSOLE_URL', 'must be a full address without a path, such as https://millrace.example.com');
    return undefined;
  }
  return url.origin;
}
