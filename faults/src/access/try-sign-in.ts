import { Agent, request } from 'node:http';

export type SignInTry = { email: string; password: string; cookie?: string };
/** Status 0: no answer. */
export type SignInAnswer = { status: number; ms: number; code: string; device: string | undefined };

export type SignInClient = Disposable & { tryOnce(given: SignInTry): Promise<SignInAnswer> };

const ANSWER_WITHIN_MS = 10_000;

/** Tries to sign in from an address of its own: all of 127.0.0.0/8 leads to this machine, and the server sees which one it was. */
export function signInFrom(localAddress: string, port: number): SignInClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  return {
    tryOnce: ({ cookie, ...account }) =>
      new Promise((resolve) => {
        const startedAt = performance.now();
        const body = JSON.stringify(account);
        const headers = {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
          ...(cookie === undefined ? {} : { Cookie: cookie }),
        };
        const target = { host: '127.0.0.1', port, method: 'POST', path: '/api/v1/session', localAddress };
        const end = (answer: Omit<SignInAnswer, 'ms'>) => resolve({ ...answer, ms: performance.now() - startedAt });
        const failed = () => end({ status: 0, code: 'no_answer', device: undefined });
        const asked = request({ ...target, headers, agent, timeout: ANSWER_WITHIN_MS }, (answer) => {
          const parts: Buffer[] = [];
          answer.on('data', (part: Buffer) => parts.push(part));
          answer.on('error', failed);
          answer.on('end', () => {
            const device = answer.headers['set-cookie']?.find((each) => each.startsWith('__Host-millrace-device='));
            const code = codeIn(Buffer.concat(parts).toString());
            end({ status: answer.statusCode ?? 0, code, device: device?.split(';')[0] });
          });
        });
        asked.on('timeout', () => asked.destroy());
        asked.on('error', failed);
        asked.end(body);
      }),
    [Symbol.dispose]: () => agent.destroy(),
  };
}

function codeIn(text: string): string {
  if (text === '') return 'done';
  const { code }: { code?: string } = JSON.parse(text);
  return code ?? 'done';
}
