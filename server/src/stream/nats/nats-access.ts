import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity, type ConnectionOptions as TlsOptions } from 'node:tls';
import { type ConnectionOptions, credsAuthenticator, errors, nkeyAuthenticator } from '@nats-io/transport-node';

/**
 * Paths of the certificates and credentials for NATS. Paths and not contents, so that no secret is in the environment; each file is
 * read again at every connection, so that a renewed certificate needs no restart.
 */
export type NatsFiles = {
  /** The authority that signed the servers' certificates, if the system does not know it. */
  ca?: string;
  certificate?: string;
  key?: string;
  nkeySeed?: string;
  /** A JWT with its seed, as `nsc` writes them. */
  credentials?: string;
};

type Access = Pick<ConnectionOptions, 'servers' | 'user' | 'pass' | 'tls' | 'authenticator'>;

export function natsAccess(url: string, files: NatsFiles = {}): Access {
  return { ...readServers(url), ...readTls(url, files), ...readAuthenticator(files) };
}

/** `nats://user:pass@host:port,nats://host2:port2`: the first user named is the user of all. */
function readServers(url: string): { servers: string[]; user?: string; pass?: string } {
  const parsed = partsOf(url);
  const servers = parsed.map((part) => `${part.protocol}//${part.host}`);
  const named = parsed.find((part) => part.username !== '');
  if (named === undefined) return { servers };
  return { servers, user: decodeURIComponent(named.username), pass: decodeURIComponent(named.password) };
}

/**
 * The library does not look at the scheme: without `tls` it speaks in clear to a server that allows it. One `tls://` in the
 * list is a demand on every server, also on those that a server names later.
 */
function readTls(url: string, { ca, certificate, key }: NatsFiles): Pick<Access, 'tls'> {
  const isAsked = partsOf(url).some(({ protocol }) => protocol === 'tls:');
  if (!isAsked && ca === undefined && certificate === undefined) return {};
  const tls = {
    ...(ca !== undefined && { caFile: ca }),
    ...(certificate !== undefined && { certFile: certificate }),
    ...(key !== undefined && { keyFile: key }),
  };
  const hosts = partsOf(url).map(({ hostname }) => hostname.replace(/^\[|\]$/g, ''));
  return { tls: { ...tls, ...strict(hosts) } };
}

/**
 * The library hands these on to node:tls. `rejectUnauthorized` is explicit, so that NODE_TLS_REJECT_UNAUTHORIZED changes
 * nothing. For an address instead of a name the library names no host, and node:tls would then accept a certificate for
 * `localhost`: it has to be for one of the addresses in the list.
 */
function strict(
  hosts: readonly string[],
): Pick<TlsOptions, 'rejectUnauthorized' | 'minVersion' | 'checkServerIdentity'> {
  const addresses = hosts.filter((host) => isIP(host) !== 0);
  return {
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    checkServerIdentity(host, certificate) {
      if (host !== 'localhost' || addresses.length === 0) return checkServerIdentity(host, certificate);
      const names = hosts.includes('localhost') ? ['localhost', ...addresses] : addresses;
      const problems = names.map((name) => checkServerIdentity(name, certificate));
      return problems.includes(undefined) ? undefined : problems[0];
    },
  };
}

function readAuthenticator({ nkeySeed, credentials }: NatsFiles): Pick<Access, 'authenticator'> {
  const read = (path: string): (() => Uint8Array) => {
    return () => readFileSync(path);
  };
  if (nkeySeed !== undefined) return { authenticator: nkeyAuthenticator(() => readSeed(nkeySeed)) };
  if (credentials !== undefined) return { authenticator: credsAuthenticator(read(credentials)) };
  return {};
}

/** Files end with a newline, seeds do not. */
function readSeed(path: string): Uint8Array {
  return Buffer.from(readFileSync(path, 'utf8').trim());
}

function partsOf(url: string): URL[] {
  return url.split(',').map((part) => new URL(part.includes('://') ? part.trim() : `nats://${part.trim()}`));
}

const UNKNOWN_AUTHORITY =
  'the certificate of the NATS server is signed by an authority that this process does not know: name its file in MILLRACE_NATS_CA_FILE';

const CERTIFICATE_PROBLEMS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the NATS server is not for the host in MILLRACE_NATS_URL',
  CERT_HAS_EXPIRED: 'the certificate of the NATS server has expired',
  CERT_NOT_YET_VALID: 'the certificate of the NATS server is not valid yet: look at the clocks',
};

/** Tells the operator how to repair a connection that failed; the library's own words where there is nothing to add. */
export function explainNoConnection(error: unknown, access: Access): Error {
  const words = wordsFor(error as Failure, access);
  return words === undefined && error instanceof Error ? error : new Error(words ?? String(error), { cause: error });
}

/** True if one side was only slower than the other waits, as on a starved machine. */
export function wasTooSlow(error: unknown): boolean {
  return error instanceof errors.TimeoutError || signedInTooLate(error);
}

/** The server gives a client two seconds to say who it is. */
function signedInTooLate(error: unknown): boolean {
  return error instanceof errors.AuthorizationError && /timeout/i.test(error.message);
}

type Failure = { message?: string; code?: string; cause?: { code?: string } };

function wordsFor(error: Failure, { tls }: Access): string | undefined {
  if (/does not support 'tls'/.test(error.message ?? '')) {
    return 'TLS is asked for by MILLRACE_NATS_URL or its files, and the NATS server does not offer it: nothing was sent in clear';
  }
  if (signedInTooLate(error)) {
    return 'the NATS server did not hear from this process in time, and hung up: one of their machines is overloaded';
  }
  if (error instanceof errors.AuthorizationError) {
    return 'the NATS server refuses this user: look at MILLRACE_NATS_URL, MILLRACE_NATS_NKEY_FILE and MILLRACE_NATS_CREDS_FILE';
  }
  // A server that verifies clients hangs up after the handshake, and the library only sees that no answer comes.
  if (error instanceof errors.TimeoutError && typeof tls === 'object' && tls !== null) {
    return tls.certFile === undefined
      ? 'the NATS server did not answer over TLS: if it verifies clients, set MILLRACE_NATS_CERT_FILE and MILLRACE_NATS_KEY_FILE to a client certificate'
      : 'the NATS server did not answer over TLS: it may not accept the client certificate in MILLRACE_NATS_CERT_FILE';
  }
  return CERTIFICATE_PROBLEMS[error.code ?? error.cause?.code ?? ''];
}
