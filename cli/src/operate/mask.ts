/** Takes secrets out of text that leaves the machine. The known ones by their value, the others by their form. */
const MASK = '***';
/** Shorter ones would mask ordinary words. */
const MIN_LENGTH = 6;

const FORMS: readonly (readonly [RegExp, string])[] = [
  // user:password@ and token@ in URLs of any kind
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, `$1${MASK}@`],
  [/(authorization"?\s*[:=]\s*"?(?:bearer|basic)\s+)[^\s"',}]+/gi, `$1${MASK}`],
  [/((?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{12,}/gi, `$1${MASK}`],
  [
    /("?[\w-]*(?:password|passwd|secret|token|api[_-]?key|write[_-]?key|private[_-]?key|cookie|signature)"?\s*[:=]\s*"?)[^\s"',}&]+/gi,
    `$1${MASK}`,
  ],
  [/(#token=)[^\s"]+/gi, `$1${MASK}`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g, MASK],
  [/\bwhsec_[A-Za-z0-9+/=_-]+/g, MASK],
  // Seeds of NKeys, and JWTs
  [/\bS[UAOCNX][A-Z2-7]{56}\b/g, MASK],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, MASK],
];

export type Mask = (text: string) => string;

/** `secrets` are values that are known to be secret, such as those of the settings; their usual encodings are masked too. */
export function openMask(secrets: readonly string[]): Mask {
  const known = [...new Set(secrets.flatMap(formsOf))]
    .filter((secret) => secret.length >= MIN_LENGTH)
    .toSorted((one, other) => other.length - one.length);
  return (text) => {
    let masked = text;
    for (const secret of known) masked = masked.replaceAll(secret, MASK);
    for (const [form, by] of FORMS) masked = masked.replaceAll(form, by);
    return masked;
  };
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('base64'),
    bytes.toString('hex'),
  ];
}

const SECRET_NAME = /(KEY|KEYS|TOKEN|SECRET|PASSWORD|SEED)$/;

/** The secrets in an environment: whole values of secret settings, and the users and passwords in all URLs. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (SECRET_NAME.test(name))
      return [value, ...value.split(',').flatMap((part) => [part, part.replace(/^\d+:/, '')])];
    return value.split(',').flatMap((part) => {
      const url = part.includes('://') ? URL.parse(part.trim()) : null;
      if (url === null) return [];
      const password = decode(url.password);
      // A NATS token stands where the user's name does.
      const token = password === '' && !url.protocol.startsWith('postgres') ? [decode(url.username), url.username] : [];
      return [
        password,
        url.password,
        ...token,
        ...[...url.searchParams].filter(([key]) => /password|secret|token/i.test(key)).map(([, text]) => text),
      ];
    });
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
