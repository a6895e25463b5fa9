/** Refusals and lost connections as failures with a remedy and an exit code. */
import { helpCodeOf, HELP } from '@millrace/contract/help';
import { visible } from '@millrace/console/format/texts';
import type { ExitName } from '../output/exit-codes.ts';
import { Failure } from '../output/failures.ts';

/** The problem document of a refused request (RFC 9457). */
export type Problem = {
  status: number;
  code: string;
  title: string;
  detail: string;
  requestId: string;
  errors?: { path: string; message: string }[];
};

export class Refusal extends Failure {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(visible(tellProblem(problem)), { exit: exitOf(problem), todo: visible(remedyOf(problem)) });
    this.problem = problem;
  }
}

export function isRefusal(error: unknown, code: string): error is Refusal {
  return error instanceof Refusal && error.problem.code === code;
}

function tellProblem({ code, title, detail, errors = [] }: Problem): string {
  const known = helpCodeOf(code);
  if (errors.length > 0) return `${title}: ${errors.map(({ path, message }) => fieldText(path, message)).join('; ')}.`;
  return `${title}. ${known === undefined ? detail : HELP[known].cause}`;
}

/** `/settings/targets/0/url` of the API reads as `settings.targets.0.url`. */
function fieldText(path: string, message: string): string {
  const field = path.replace(/^\//, '').replaceAll('/', '.');
  return `${field === '' ? '' : `${field} `}${message.replace(/\.$/, '')}`;
}

/** The remedies that a command line has beyond those of the API. */
const REMEDIES: Readonly<Record<string, string>> = {
  not_signed_in: 'Sign in with millrace login, or set MILLRACE_TOKEN to a valid token.',
  workspace_required: 'Name one with --workspace; millrace whoami lists them.',
  invalid_request: 'Change the values that are named here, and run the command again.',
};

function remedyOf({ code, detail, requestId }: Problem): string {
  const known = helpCodeOf(code);
  const remedy = REMEDIES[code] ?? (known === undefined ? detail : HELP[known].remedy);
  return requestId === '' ? remedy : `${remedy} (request ${requestId})`;
}

function exitOf({ status }: Problem): ExitName {
  if (status === 404 || status === 410) return 'notFound';
  if (status === 502 || status === 503 || status === 504) return 'unreachable';
  return status >= 500 ? 'failed' : 'refused';
}

/** An answer that is no problem document comes from a proxy, or from another program than control. */
export function problemOf(server: string, response: Response, answer: unknown): Problem {
  const problem = (typeof answer === 'object' && answer !== null ? answer : {}) as Partial<Problem>;
  return {
    ...problem,
    status: response.status,
    code: problem.code ?? 'no_problem_document',
    title: problem.title ?? `${server} answered ${response.status} ${response.statusText}`.trim(),
    detail: problem.detail ?? 'Check that this is the address of the control API (port 8081 unless set otherwise).',
    requestId: problem.requestId ?? response.headers.get('X-Request-Id') ?? '',
  };
}

type Told = { what: string; todo: string };

const TLS: Readonly<Record<string, Told>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: {
    what: 'its certificate is self-signed',
    todo: 'Name its certificate in NODE_EXTRA_CA_CERTS=/path/to/ca.pem if you trust it.',
  },
  SELF_SIGNED_CERT_IN_CHAIN: {
    what: 'its certificate comes from an authority that this machine does not know',
    todo: 'Name the certificate of that authority in NODE_EXTRA_CA_CERTS=/path/to/ca.pem.',
  },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: {
    what: 'its certificate cannot be traced to a known authority',
    todo: 'Let the server send its intermediate certificates, or name the authority in NODE_EXTRA_CA_CERTS=/path/to/ca.pem.',
  },
  CERT_HAS_EXPIRED: { what: 'its certificate has expired', todo: 'Renew the certificate of the server.' },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    what: 'its certificate is for another name',
    todo: 'Use the name that the certificate is for.',
  },
};

const LOST: Readonly<Record<string, Told>> = {
  ECONNREFUSED: {
    what: 'nothing listens there',
    todo: 'Check the address and the port, and that a process with the role control runs.',
  },
  ENOTFOUND: { what: 'the name does not exist', todo: 'Check the address for a typing error.' },
  EAI_AGAIN: { what: 'the name server does not answer', todo: 'Check the network of this machine.' },
  ECONNRESET: { what: 'the connection was broken', todo: 'Try again; the server may be restarting.' },
  UND_ERR_SOCKET: { what: 'the connection was closed', todo: 'Try again; the server may be restarting.' },
  ERR_SSL_WRONG_VERSION_NUMBER: { what: 'it does not speak TLS', todo: 'Use http:// in place of https://.' },
  EPROTO: {
    what: 'it does not speak TLS as this machine does',
    todo: 'Check whether the address begins with https://.',
  },
};

/** A request that got no answer. */
export function tellLost(server: string, error: unknown): Failure {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return new Failure(`${server} did not answer in time.`, {
      exit: 'unreachable',
      todo: 'Try again, perhaps with a longer --timeout.',
    });
  }
  const code = codeOf(error);
  const told = TLS[code] ?? LOST[code];
  const what = told?.what ?? (code === '' ? messageOf(error) : code);
  return new Failure(`${server} cannot be reached: ${what}.`, {
    exit: 'unreachable',
    todo: told?.todo ?? 'Check the address and the network.',
  });
}

/** `fetch` hides the reason in the cause, which may be a list for a host with several addresses. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return inner === undefined ? '' : codeOf(inner);
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
