/** Takes secrets out of text that leaves the machine. The known ones by their value, the others by their form. */
const MASK = '***';
/** Shorter ones would mask ordinary words. */
const MIN_LENGTH = 6;

const PEM = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g;
/** A name in running text whose value is secret. A match may begin inside a longer name. */
const NAME = String.raw`(?:passw(?:or)?d|passphrase|secret|token|(?:api|write|private|access|signing)[_-]?key|[_-]keys?(?![a-z])|signature|credential)[\w-]*`;
/** Between a name and its value, in JSON also escaped, once or more. */
const IS = String.raw`\\*["']?\s*[:=]\s*`;

const FORMS: readonly (readonly [RegExp, string])[] = [
  // user:password@ and token@ in URLs of any kind; the last @ ends the password
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/"'\\]+@/gi, `$1${MASK}@`],
  // Headers: the whole value, with every cookie
  [new RegExp(`((?:authorization|cookie)${IS})(\\\\*["']?)[^"'\\\\\\r\\n]+`, 'gi'), `$1$2${MASK}`],
  [/((?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{12,}/gi, `$1${MASK}`],
  [new RegExp(`(${NAME}${IS}\\\\+")[^\\r\\n]*?(?=\\\\+"|$)`, 'gim'), `$1${MASK}`],
  [new RegExp(`(${NAME}${IS}")(?:[^"\\\\]|\\\\.)*`, 'gi'), `$1${MASK}`],
  [new RegExp(`(${NAME}${IS}')(?:[^'\\\\]|\\\\.)*`, 'gi'), `$1${MASK}`],
  [new RegExp(`(${NAME}\\s*:[ \\t]+)[^"'\\\\,}&\\r\\n]+`, 'gi'), `$1${MASK}`],
  [new RegExp(`(${NAME}${IS})[^\\s"'\\\\,}&]+`, 'gi'), `$1${MASK}`],
  [/(#token=)[^\s"]+/gi, `$1${MASK}`],
  [PEM, MASK],
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
    const whole = maskJson(masked, 2);
    if (whole !== undefined) return `${whole}\n`;
    return masked
      .split('\n')
      .map((line) => maskJson(line) ?? maskForms(line))
      .join('\n')
      .replaceAll(PEM, MASK);
  };
}

function maskForms(text: string): string {
  let masked = text;
  for (const [form, by] of FORMS) masked = masked.replaceAll(form, by);
  return masked;
}

/** In JSON the name of a field tells. Undefined: the text is no JSON. */
function maskJson(text: string, indent?: number): string | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.stringify(maskField(JSON.parse(text), false), undefined, indent);
  } catch {
    return undefined;
  }
}

const SECRET_FIELD =
  /passw|passphrase|secret|token|authorization|cookie|signature|credential|(?:api|write|private|access|signing)key|[_-](?:keys?|seed)(?:[_-]|$)/i;

function maskField(value: unknown, isSecret: boolean): unknown {
  if (typeof value === 'string') return isSecret && value !== '' ? MASK : (maskJson(value) ?? maskForms(value));
  if (Array.isArray(value)) return value.map((each) => maskField(each, isSecret));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      maskForms(name),
      maskField(each, isSecret || SECRET_FIELD.test(name)),
    ]),
  );
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

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|SEED/;
/** Names of places, and values such as `30s`: masking them would take ordinary words out of the text. */
const PLACE_NAME = /_(DIR|FILE|PATH)$/;
const PLAIN_VALUE = /^(\d{1,9}[a-z]{0,2}|true|false)$/i;

/** The secrets in an environment: whole values of secret settings, and the users and passwords in all URLs. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (SECRET_NAME.test(name) && !PLACE_NAME.test(name) && !PLAIN_VALUE.test(value))
      return [value, ...value.split(',').flatMap((part) => [part, part.replace(/^\d+:/, '')])];
    // A password may have a comma, as a list of URLs has: both readings count.
    const parts = [value, ...value.split(/,(?=\s*[a-z][a-z0-9+.-]*:\/\/)/i), ...value.split(',')];
    return [...new Set(parts)].flatMap(secretsInUrl);
  });
}

function secretsInUrl(text: string): string[] {
  const url = text.includes('://') ? URL.parse(text.trim()) : null;
  if (url === null) return [];
  const password = decode(url.password);
  // A NATS token stands where the user's name does.
  const token = password === '' && !url.protocol.startsWith('postgres') ? [decode(url.username), url.username] : [];
  return [
    password,
    url.password,
    ...token,
    ...[...url.searchParams].filter(([key]) => /password|secret|token/i.test(key)).map(([, value]) => value),
  ];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
