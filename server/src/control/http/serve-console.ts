/** The console: static files of our own origin. Every path that is no file and not of the API shows its one page. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import files from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CONSOLE_DIR } from '../../installed-files.ts';
import type { Logger } from '../../log.ts';

/** The names of these files hold a hash of their content. */
const FOR_EVER = 'public, max-age=31536000, immutable';
const NOT_BUILT = 'The console is not built. Run `npm run build` in the directory of Millrace, then start it again.\n';

export type Console = {
  /** Names the build; every answer has it, so an open console notices that the server was upgraded. */
  build: string | undefined;
  /** Answers with the page of the console if the request is of a browser that opens an address; false if it is not. */
  answers(request: FastifyRequest, reply: FastifyReply): boolean;
};

export async function serveConsole(app: FastifyInstance, log: Logger, dir = CONSOLE_DIR): Promise<Console> {
  const pageFile = join(dir, 'index.html');
  if (!existsSync(pageFile)) {
    log.info({ dir }, 'console.not_built');
    app.get('/', async (_request, reply) => reply.code(404).type('text/plain; charset=utf-8').send(NOT_BUILT));
    return { build: undefined, answers: () => false };
  }
  const page = readFileSync(pageFile);
  const hashed = join(resolve(dir), 'assets', sep);
  await app.register(files, {
    root: dir,
    // One route for each file that is there at the start: no path of a request ever reaches the file system.
    wildcard: false,
    index: false,
    globIgnore: ['**/.*', '**/.*/**', 'index.html'],
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, path) => {
      reply.header('Cache-Control', path.startsWith(hashed) ? FOR_EVER : 'no-cache');
    },
  });
  const send = (reply: FastifyReply) => reply.code(200).type('text/html; charset=utf-8').send(page);
  app.get('/', async (_request, reply) => send(reply));
  return {
    build: createHash('sha256').update(page).digest('hex').slice(0, 12),
    answers(request, reply) {
      if (!isOpened(request)) return false;
      void send(reply);
      return true;
    },
  };
}

function isOpened({ method, url, headers }: FastifyRequest): boolean {
  return method === 'GET' && !isOfApi(url) && headers.accept?.includes('text/html') === true;
}

/** The router resolves escapes, so `/%61pi/` is of the API too. It has refused those that cannot be resolved. */
function isOfApi(url: string): boolean {
  const [path = ''] = url.split('?', 1);
  return /^\/+api(?:\/|$)/i.test(decodeURIComponent(path));
}
